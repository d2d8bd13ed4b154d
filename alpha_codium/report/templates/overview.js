'use strict';
// The overview's list of problems: filters, order, and a cell for each sample.

// With more samples, cells are small; with fewer, rows are tiles.
const MANY = 40;
const FEW = 12;
// A longer list is drawn only where it is looked at.
const LONG = 250;
const MOST = Math.max(0, ...INDEX.problems.flatMap((problem) => problem.runs.map((ofRun) => ofRun.verdicts.length)));

function solvedBy(problem) {
  return problem.runs.map((ofRun) => ofRun.verdicts.includes('A'));
}

function share(problem) {
  const all = problem.runs.map((ofRun) => ofRun.verdicts).join('');
  return all ? [...all].filter((letter) => letter === 'A').length / all.length : 0;
}

const SOLVED = {
  nobody: ['by nobody', (problem) => !solvedBy(problem).some(Boolean)],
  some: ['by some samples', (problem) => share(problem) > 0 && share(problem) < 1],
  all: ['by every sample', (problem) => share(problem) === 1],
};
if (INDEX.problems.some((problem) => problem.runs.some((ofRun) => ofRun.odd))) {
  SOLVED.odd = ['not as expected', (problem) => problem.runs.some((ofRun) => ofRun.odd)];
}
if (INDEX.runs.length > 1) {
  INDEX.runs.forEach((name, run) => {
    SOLVED[`only ${name}`] = [`only by ${name}`, (problem) => solvedBy(problem).every((solved, other) => solved === (other === run))];
  });
}
const SORTS = {
  '': ['as in the run', null],
  hardest: ['hardest first', (one, other) => share(one) - share(other)],
  easiest: ['easiest first', (one, other) => share(other) - share(one)],
  name: ['by name', (one, other) => one.name.localeCompare(other.name, 'en', { numeric: true })],
  tokens: ['most tokens first', (one, other) => tokens(other) - tokens(one)],
};

function tokens(problem) {
  return problem.runs.reduce((sum, ofRun) => sum + (ofRun.tokens || 0), 0);
}

function matches(problem, wanted) {
  const letters = problem.runs.map((ofRun) => ofRun.verdicts).join('');
  const errors = () => problem.runs.flatMap((ofRun) => ofRun.errors).filter((error) => error >= 0);
  const text = () => [problem.name, problem.difficulty, ...problem.tags, ...new Set(errors().map((error) => INDEX.errors[error]))].join(' ').toLowerCase();
  return (!wanted.verdict || letters.includes(wanted.verdict))
    && (!wanted.error || errors().includes(INDEX.errors.indexOf(wanted.error)))
    && (!wanted.difficulty || problem.difficulty === wanted.difficulty)
    && (!wanted.tag || problem.tags.includes(wanted.tag))
    && (!SOLVED[wanted.solved] || SOLVED[wanted.solved][1](problem))
    && (!wanted.q || wanted.q.toLowerCase().split(/\s+/).every((word) => text().includes(word)));
}

function select(name, choices, any) {
  byId(`f-${name}`).replaceChildren(...(any ? [element('option', { value: '', text: any })] : []),
    ...choices.map(([value, text]) => element('option', { value, text: text ?? value })));
  byId(`f-${name}`).closest('label').hidden = choices.length < 2;
}

function fillFilters() {
  const all = INDEX.problems.flatMap((problem) => problem.runs.map((ofRun) => ofRun.verdicts)).join('');
  const letters = Object.keys(NAMES).filter((letter) => all.includes(letter));
  const difficulties = [...new Set(INDEX.problems.map((problem) => problem.difficulty).filter(Boolean))];
  const tags = [...new Set(INDEX.problems.flatMap((problem) => problem.tags))].sort();
  select('solved', Object.entries(SOLVED).map(([value, [text]]) => [value, text]), 'any');
  select('verdict', letters.map((letter) => [letter, NAMES[letter]]), 'any');
  select('error', [...INDEX.errors].sort().map((error) => [error]), 'any');
  select('difficulty', difficulties.map((name) => [name]), 'any');
  select('tag', tags.map((name) => [name]), 'any');
  select('sort', Object.entries(SORTS).filter(([key]) => key !== 'tokens' || INDEX.problems.some(tokens)).map(([value, [text]]) => [value, text]));
  const has = (name) => INDEX.problems.some((problem) => problem.runs.some((ofRun) => ofRun[name]));
  byId('legend').replaceChildren(...letters.map((letter) => element('li', {}, element('i', { class: `cell v-${letter}`, text: letter, 'aria-hidden': 'true' }), NAMES[letter])),
    has('near') ? element('li', {}, element('i', { class: 'cell near', 'aria-hidden': 'true' }), 'near a limit') : '',
    has('odd') ? element('li', {}, element('i', { class: 'cell odd', 'aria-hidden': 'true' }), 'not as expected') : '');
}

function layOut() {
  const longest = Math.max(14, ...INDEX.problems.map((problem) => problem.name.length));
  byId('grid').classList.toggle('compact', MOST * INDEX.runs.length <= FEW);
  byId('grid').style.setProperty('--tile', `${Math.min(280, 9 * longest) + INDEX.runs.length * (16 + 25 * MOST)}px`);
}

const filling = new IntersectionObserver((entries) => {
  for (const entry of entries.filter((each) => each.isIntersecting)) {
    filling.unobserve(entry.target);
    fillRow(entry.target);
  }
}, { rootMargin: '800px' });

function fillRow(row) {
  const problem = INDEX.problems[row.place];
  const wanted = current();
  problem.runs.forEach((ofRun, run) => {
    const cells = [...ofRun.verdicts].map((letter, place) => {
      const made = cell(problem, run, place, letter);
      made.tabIndex = -1;
      const other = (wanted.verdict && wanted.verdict !== letter) || (wanted.error && INDEX.errors[ofRun.errors[place]] !== wanted.error);
      if (other) made.classList.add('dim');
      return made;
    });
    row.querySelectorAll('.cells')[run].append(...cells);
  });
}

function rowOf(place) {
  const problem = INDEX.problems[place];
  const labels = [problem.difficulty, ...problem.tags].filter(Boolean).join(' · ');
  const all = problem.runs.reduce((sum, ofRun) => sum + ofRun.verdicts.length, 0);
  const solved = Math.round(share(problem) * all);
  const row = element('li', { class: MOST > MANY ? 'row many' : 'row' },
    element('a', { class: 'name', href: address({ problem: problem.name }), title: labels || null }, problem.name, labels && element('small', { text: labels })),
    element('span', { class: 'solved', text: all ? `${solved}/${all}` : 'no sample' }),
    element('span', { class: 'lines' }, problem.runs.map((_, run) => element('span', { class: 'cells' },
      INDEX.runs.length > 1 && element('i', { class: `dot run${run % 6}`, title: INDEX.runs[run] })))));
  row.place = place;
  return row;
}

function showOverview() {
  const wanted = current();
  FILTERS.forEach((name) => { if (document.activeElement !== byId(`f-${name}`)) byId(`f-${name}`).value = wanted[name] || ''; });
  shown = INDEX.problems.map((_, place) => place).filter((place) => matches(INDEX.problems[place], wanted));
  const order = SORTS[wanted.sort || '']?.[1];
  if (order) shown.sort((one, other) => order(INDEX.problems[one], INDEX.problems[other]));
  const rows = shown.map(rowOf);
  filling.disconnect();
  byId('grid').replaceChildren(...rows);
  byId('grid').classList.toggle('long', rows.length > LONG);
  rows.forEach((row) => (rows.length > LONG ? filling.observe(row) : fillRow(row)));
  byId('count').textContent = shown.length === INDEX.problems.length ? `${shown.length}` : `${shown.length} of ${INDEX.problems.length}`;
  mark(Math.min(markedRow, shown.length - 1), false);
}

function mark(row, scroll = true) {
  const rows = byId('grid').children;
  rows[markedRow]?.classList.remove('marked');
  markedRow = Math.max(0, Math.min(row, rows.length - 1));
  if (!scroll) return;
  rows[markedRow]?.classList.add('marked');
  rows[markedRow]?.scrollIntoView({ block: 'nearest' });
  rows[markedRow]?.querySelector('.name').focus({ preventScroll: true });
}
