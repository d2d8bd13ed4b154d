'use strict';
// The address of what is shown, and the keys. All state is in the fragment of the address, so that each
// view can be linked: problem, run, sample, stage, test, and the filters.

const FILTERS = ['q', 'solved', 'verdict', 'error', 'difficulty', 'tag', 'sort'];
const PLACES = new Map(INDEX.problems.map((problem, place) => [problem.name, place]));
const byId = (id) => document.getElementById(id);
const overview = byId('overview');
const detail = byId('detail');
let shown = [];
let markedRow = 0;
let reloading = INDEX.live > 0;
let remembered = 0;

function current() {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

function address(values) {
  const kept = Object.entries(values).filter(([, value]) => value !== null && value !== undefined && value !== '');
  return `#${new URLSearchParams(kept.map(([name, value]) => [name, String(value)]))}`;
}

function filters() {
  const now = current();
  return Object.fromEntries(FILTERS.filter((name) => now[name]).map((name) => [name, now[name]]));
}

function go(values) {
  location.hash = address({ ...filters(), ...values });
}

// ---- a problem, a sample

function chosenSample(problem, wanted) {
  if (wanted.sample === undefined) return null;
  const run = wanted.run ? INDEX.runs.indexOf(wanted.run) : 0;
  const ofRun = problem.runs[run];
  const place = ofRun ? [...ofRun.verdicts].findIndex((_, at) => idOf(ofRun, at) === wanted.sample) : -1;
  return place < 0 ? null : { run, place };
}

async function showDetail(wanted) {
  const place = PLACES.get(wanted.problem);
  if (place === undefined) {
    detail.replaceChildren(element('h1', { text: 'Not in this page' }), element('p', { text: `There is no problem ${wanted.problem}.` }));
    return;
  }
  const problem = INDEX.problems[place];
  const chosen = chosenSample(problem, wanted);
  let body;
  try {
    body = await bodyOf(place);
  } catch (error) {
    detail.replaceChildren(element('h1', { text: problem.name }), element('p', { class: 'badge bad', text: `The texts can’t be read: ${error.message}` }));
    return;
  }
  if (current().problem !== wanted.problem || current().sample !== wanted.sample) return;
  const before = detail.dataset.of;
  detail.dataset.of = `${wanted.problem} ${wanted.run} ${wanted.sample}`;
  if (before !== detail.dataset.of) {
    detail.replaceChildren(...(chosen ? sampleView(problem, body, chosen) : problemView(problem, body)));
    scrollTo(0, 0);
    detail.focus({ preventScroll: true });
  }
  document.title = `${wanted.problem}${chosen ? `, ${sampleName(wanted.sample)}` : ''} – gencode report`;
  reveal(wanted);
}

// Open what the address names, a test or a call of a stage, and scroll there.
function reveal(wanted) {
  const stage = wanted.stage ? byId(`stage-${wanted.stage}`) || byId(`stage-${wanted.stage.replace(/\.\d+$/, '')}`) : null;
  const target = wanted.test ? byId(`test-${wanted.test}`) : stage;
  if (!target) return;
  target.open = true;
  // Its content is made by the event `toggle`, which comes after this.
  setTimeout(() => {
    const there = (wanted.stage && byId(`stage-${wanted.stage}`)) || target;
    there.scrollIntoView({ block: 'start' });
    there.classList.add('target');
  }, 60);
}

function crumbs(wanted) {
  const parts = [];
  if (wanted.problem) {
    parts.push(element('a', { href: address(filters()), text: 'All problems' }), ' › ');
    const link = { href: address({ ...filters(), problem: wanted.problem }), text: wanted.problem };
    parts.push(wanted.sample === undefined ? element('span', { text: wanted.problem }) : element('a', link));
    if (wanted.sample !== undefined) parts.push(` › ${sampleName(wanted.sample)}`);
  }
  byId('where').replaceChildren(...parts);
}

function route() {
  const wanted = current();
  const isDetail = wanted.problem !== undefined;
  if (isDetail && !overview.hidden) remembered = scrollY;
  const returning = !isDetail && overview.hidden;
  overview.hidden = isDetail;
  detail.hidden = !isDetail;
  crumbs(wanted);
  if (isDetail) {
    if (!shown.length) showOverview();
    markedRow = Math.max(0, shown.indexOf(PLACES.get(wanted.problem)));
    showDetail(wanted);
    return;
  }
  detail.dataset.of = '';
  document.title = `${INDEX.runs.join(', ')} – gencode report`;
  showOverview();
  if (returning) scrollTo(0, remembered);
}

// ---- moving

function step(rows) {
  const wanted = current();
  if (wanted.problem === undefined) {
    const isMarked = byId('grid').querySelector('.marked');
    mark(isMarked ? markedRow + rows : markedRow);
    return;
  }
  const at = shown.indexOf(PLACES.get(wanted.problem)) + rows;
  if (at < 0 || at >= shown.length) return;
  const problem = INDEX.problems[shown[at]];
  const first = wanted.sample !== undefined && problem.runs.findIndex((ofRun) => ofRun.verdicts.length);
  go({ problem: problem.name, ...(wanted.sample !== undefined && first >= 0 ? { run: runParameter(first), sample: idOf(problem.runs[first], 0) } : {}) });
}

function sampleStep(by, failedOnly) {
  const wanted = current();
  const problem = INDEX.problems[wanted.problem === undefined ? shown[markedRow] : PLACES.get(wanted.problem)];
  if (!problem) return;
  const all = problem.runs.flatMap((ofRun, run) => [...ofRun.verdicts].map((letter, place) => ({ run, place, letter })));
  const chosen = chosenSample(problem, wanted);
  const at = chosen ? all.findIndex((each) => each.run === chosen.run && each.place === chosen.place) : by > 0 ? -1 : all.length;
  let next = at + by;
  while (failedOnly && all[next] && 'AN'.includes(all[next].letter)) next += by;
  if (all[next]) go({ problem: problem.name, run: runParameter(all[next].run), sample: idOf(problem.runs[all[next].run], all[next].place) });
}

function back() {
  const wanted = current();
  if (wanted.sample !== undefined) go({ problem: wanted.problem });
  else if (wanted.problem !== undefined) go({});
}

async function copyText(text, button) {
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = 'Copied';
  } catch {
    button.textContent = 'Not allowed here';
  }
  setTimeout(() => { button.textContent = before; }, 1500);
}

function switchTheme() {
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  const now = document.documentElement.dataset.theme || (dark ? 'dark' : 'light');
  document.documentElement.dataset.theme = now === 'dark' ? 'light' : 'dark';
  try {
    localStorage.setItem('gencode-theme', document.documentElement.dataset.theme);
  } catch { /* A browser may forbid it on disk. */ }
}

const KEYS = {
  j: () => step(1),
  k: () => step(-1),
  l: () => sampleStep(1),
  h: () => sampleStep(-1),
  ArrowRight: () => sampleStep(1),
  ArrowLeft: () => sampleStep(-1),
  f: () => sampleStep(1, true),
  y: () => copyText(location.href, byId('copy')),
  t: switchTheme,
  '?': () => byId('keys').showModal(),
  Escape: back,
  '/': () => { go({}); setTimeout(() => byId('f-q').focus()); },
};

function onKey(event) {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (typing && event.key === 'Escape') event.target.blur();
  if (typing || event.ctrlKey || event.metaKey || event.altKey || byId('keys').open || !KEYS[event.key]) return;
  // In a wide program the arrows scroll.
  if (event.key.startsWith('Arrow') && event.target.tagName === 'PRE') return;
  event.preventDefault();
  KEYS[event.key]();
}

function onFilter() {
  const values = Object.fromEntries(FILTERS.map((name) => [name, byId(`f-${name}`).value]));
  history.replaceState(null, '', address(values));
  markedRow = 0;
  showOverview();
}

function keepReloading() {
  byId('live').hidden = false;
  byId('live').addEventListener('click', () => {
    reloading = !reloading;
    byId('live').textContent = reloading ? 'Pause reloading' : 'Reload again';
  });
  setInterval(() => {
    const busy = document.hidden || byId('keys').open || document.activeElement === byId('f-q') || !getSelection().isCollapsed;
    if (reloading && !busy) location.reload();
  }, INDEX.live * 1000);
}

try {
  document.documentElement.dataset.theme = localStorage.getItem('gencode-theme') || '';
} catch { /* A browser may forbid it on disk. */ }
document.querySelectorAll('[data-share]').forEach((part) => { part.style.flexGrow = part.dataset.share; });
layOut();
fillFilters();
addEventListener('hashchange', route);
addEventListener('keydown', onKey);
byId('filters').addEventListener('input', onFilter);
byId('filters').addEventListener('submit', (event) => event.preventDefault());
byId('filters').addEventListener('reset', () => setTimeout(onFilter));
document.addEventListener('click', (event) => {
  const link = event.target.closest('a[href^="#"]');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  go(Object.fromEntries(new URLSearchParams(link.getAttribute('href').slice(1))));
});
byId('theme').addEventListener('click', switchTheme);
byId('help').addEventListener('click', () => byId('keys').showModal());
byId('copy').addEventListener('click', () => copyText(location.href, byId('copy')));
if (INDEX.live) keepReloading();
route();
