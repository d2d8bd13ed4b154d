'use strict';
// What is behind a problem, and behind one of its samples.

const NAMES = INDEX.verdicts;
const SIZE = (bytes) => (bytes < 2 ** 30 ? `${(bytes / 2 ** 20).toFixed(1)} MiB` : `${(bytes / 2 ** 30).toFixed(2)} GiB`);

function badge(letter) {
  return element('span', { class: `badge v-${letter}` }, element('b', { text: letter, 'aria-hidden': 'true' }), ` ${NAMES[letter]}`);
}

function card(title, id, ...children) {
  return element('section', { class: 'card', id, 'aria-label': title }, element('h2', { text: title }), ...children);
}

function idOf(ofRun, place) {
  return ofRun.ids ? ofRun.ids[place] : String(place);
}

function sampleName(id) {
  return /^\d+$/.test(id) ? `sample ${id}` : id.replace('-', ' ').replace('_', ' ');
}

// The samples of a problem, a line for each run; `chosen` is the one that is shown.
function strip(problem, chosen) {
  return element('div', { class: 'strip' }, problem.runs.map((ofRun, run) => element('div', { class: 'cells' },
    INDEX.runs.length > 1 && element('span', { class: `who run${run % 6}`, text: INDEX.runs[run] }),
    [...ofRun.verdicts].map((letter, place) => cell(problem, run, place, letter, chosen)))));
}

function cell(problem, run, place, letter, chosen) {
  const id = idOf(problem.runs[run], place);
  const near = problem.runs[run].near?.includes(place);
  const odd = problem.runs[run].odd?.includes(place);
  const current = chosen && chosen.run === run && chosen.place === place;
  const label = `${sampleName(id)}: ${NAMES[letter]}${near ? ', near a limit' : ''}${odd ? ', not as expected' : ''}`;
  return element('a', {
    class: `cell v-${letter}${near ? ' near' : ''}${odd ? ' odd' : ''}`, href: address({ problem: problem.name, run: runParameter(run), sample: id }),
    title: label, 'aria-label': label, 'aria-current': current ? 'true' : null, text: letter,
  });
}

function runParameter(run) {
  return INDEX.runs.length > 1 ? INDEX.runs[run] : null;
}

function problemView(problem, body) {
  const labels = [problem.difficulty, ...problem.tags].filter(Boolean);
  const rows = problem.runs.flatMap((ofRun, run) => body.runs[run].samples.map((sample) => element('tr', {},
    element('th', { scope: 'row' }, element('a', { href: address({ problem: problem.name, run: runParameter(run), sample: sample.id }), text: sampleName(sample.id) })),
    INDEX.runs.length > 1 && element('td', { class: 'run', text: INDEX.runs[run] }),
    element('td', {}, badge(sample.verdict)),
    element('td', { class: 'num', text: sample.total ? `${sample.passed}/${sample.total}` : '–' }),
    element('td', { class: 'reason', text: sample.reason }))));
  const head = ['sample', INDEX.runs.length > 1 && 'run', 'verdict', 'tests', 'why it failed'].filter(Boolean);
  const samples = rows.length
    ? element('table', { class: 'plain samples' }, element('thead', {}, element('tr', {}, head.map((text) => element('th', { scope: 'col', text })))), element('tbody', {}, rows))
    : element('p', { text: 'No sample: the problem counts as failed.' });
  return [
    element('h1', { text: problem.name }),
    element('p', { class: 'sub', text: labels.join(' · ') }),
    element('div', { class: 'columns' },
      element('div', {}, findings(body), card('Samples', 'samples', samples)),
      element('div', {}, statement(body))),
  ];
}

function findings(body) {
  const found = body.runs.flatMap((ofRun) => ofRun.findings);
  return found.length ? card('Findings', 'findings', element('ul', {}, found.map((text) => element('li', { text })))) : null;
}

function statement(body) {
  if (body.statement) return card('Statement', 'statement', textBlock(body.statement, 'statement'));
  return card('Statement', 'statement', element('p', { text: `Not shown: ${body.missing || 'the problem isn’t in the dataset'}.` }));
}

function sampleView(problem, body, chosen) {
  const ofRun = body.runs[chosen.run];
  const sample = ofRun.samples[chosen.place];
  const written = body.programs[sample.program];
  const total = sample.total ? `${sample.passed} of ${sample.total} tests passed` : '';
  const facts = [sample.expected && `expected: ${sample.expected}`, total, nearText(sample), sample.rechecked && 'judged again alone', usageText(sample.usage)].filter(Boolean);
  return [
    element('h1', {}, problem.name, ' ', element('small', { text: sampleName(sample.id) })),
    element('p', { class: 'verdict' }, badge(sample.verdict), ' ', element('span', { text: sample.reason })),
    element('p', { class: 'sub', text: facts.join(' · ') }),
    strip(problem, chosen),
    element('div', { class: 'columns' },
      element('div', {}, failureCard(sample), testsCard(sample, ofRun, written), stagesCard(sample)),
      element('div', {}, programCard(written, sample), statement(body))),
  ];
}

function nearText(sample) {
  const limits = new Set(sample.tests.flatMap((test) => (test[4] ? test[4].split(',') : [])));
  if (sample.near && limits.size) return `near the limit of ${[...limits].join(' and ')}`;
  return sample.near ? 'near a limit' : '';
}

function usageText(usage) {
  if (!usage || !usage.calls) return '';
  const cost = usage.cost === null ? 'cost unknown' : `$${usage.cost.toFixed(4)}`;
  const cutOff = usage.truncated ? `, ${usage.truncated} cut off` : '';
  return `${usage.model}: ${usage.calls} call${usage.calls === 1 ? '' : 's'}${cutOff}, ${usage.prompt.toLocaleString('en')} + ${usage.completion.toLocaleString('en')} tokens, ${cost}`;
}

function programCard(written, sample) {
  if (!written) return card('Program', 'program', element('p', { text: sample.error ? `There is none: ${sample.error}` : 'The run’s folder doesn’t have it.' }));
  const copied = element('button', { type: 'button', class: 'copy', text: 'Copy', onclick: () => copyText(written.source, copied) });
  return card(`Program (${written.language})`, 'program', copied, program(written.source, written.colours));
}

function failureCard(sample) {
  const failure = sample.failure;
  if (!failure) {
    if (!sample.error) return null;
    return card('Why there is no verdict on a test', 'failure', textBlock(sample.error, 'error'));
  }
  const first = failure.test === null || failure.test === undefined
    ? 'The program doesn’t compile.'
    : element('span', {}, 'First failing test: ', testLink(failure.test), ` of ${sample.total}, ${NAMES[failure.verdict]}.`);
  const ended = [failure.exit_code ? `exit status ${failure.exit_code}` : '', failure.signal ? `signal ${failure.signal}` : ''].filter(Boolean).join(', ');
  return card('Why it failed', 'failure', element('p', {}, first),
    failure.used && element('p', { class: 'used', text: `Used ${failure.used}.` }),
    failure.assertion && part('Failing assertion', textBlock(failure.assertion, 'failing assertion')),
    failure.assertion && failure.actual && part('Value returned last', textBlock(failure.actual, 'value')),
    failure.difference && failure.input && part('Input', textBlock(failure.input, 'input')),
    failure.difference && part('Output: − expected, + actual', difference(failure.difference)),
    failure.stderr && part(`End of stderr${ended ? ` (${ended})` : ''}`, textBlock(failure.stderr, 'stderr')),
    !failure.stderr && ended && element('p', { text: ended }));
}

function part(title, ...children) {
  return element('div', { class: 'part' }, element('h3', { text: title }), ...children);
}

function testLink(number) {
  return element('a', { href: address({ ...current(), stage: null, test: number + 1 }), text: `test ${number + 1}` });
}

function testsCard(sample, ofRun, written) {
  const count = Math.max(sample.tests.length, ofRun.tests.length);
  if (!count) return null;
  const limits = ofRun.limits[written?.language];
  const title = limits ? `Tests (limits: ${limits[0]} s CPU, ${limits[1]} s wall, ${SIZE(limits[2])})` : 'Tests';
  return card(title, 'tests', element('div', { class: 'tests' },
    Array.from({ length: count }, (_, place) => testRow(place, sample, ofRun, limits))));
}

// What is opened by hand goes into the address, so that a copied link opens it, too.
function note(values) {
  history.replaceState(null, '', address({ ...current(), stage: null, test: null, ...values }));
}

function testRow(place, sample, ofRun, limits) {
  const [letter, cpu, , memory, near, trust] = sample.tests[place] || [];
  const [kind, input, expected] = ofRun.tests[place] || [];
  const failed = sample.failure && sample.failure.test === place;
  const measured = letter && (cpu || memory);
  const used = measured ? `${cpu.toFixed(3)} s, ${SIZE(memory)}` : letter ? 'what it used isn’t recorded' : '';
  const notes = [near && `near the limit of ${near}`, trust === 'in_process' && 'verdict from the program’s own process'].filter(Boolean).join('; ');
  const row = element('details', { class: 'test', id: `test-${place + 1}` },
    element('summary', {},
      element('span', { class: 'what', text: `${place + 1}` }),
      letter ? badge(letter) : element('span', { class: 'badge', text: failed ? NAMES[sample.failure.verdict] : 'no details' }),
      element('span', { class: 'kind', text: kind || '' }),
      limits && measured ? meter(cpu / limits[0], `CPU time ${cpu.toFixed(3)} s of ${limits[0]} s`) : null,
      element('span', { class: 'used', text: used }),
      notes && element('span', { class: 'note', text: notes })));
  row.addEventListener('toggle', () => {
    if (row.open) note({ test: place + 1 });
    if (row.open && row.childElementCount === 1) row.append(testTexts(input, expected, letter, failed && sample.failure));
  });
  return row;
}

// A run keeps what a program printed in its first failing test only; in an accepted one that is what was expected.
function testTexts(input, expected, letter, failure) {
  const lines = failure && failure.difference;
  return element('div', {},
    input === undefined ? element('p', { text: 'The page doesn’t have the test’s texts.' }) : part('Input', textBlock(input, 'input')),
    lines && part('Output: − expected, + actual', difference(lines)),
    !lines && expected && part('Expected output', textBlock(expected, 'expected output')),
    letter && letter !== 'A' && !failure && element('p', { class: 'used', text: 'The run keeps the actual output of the first failing test only.' }));
}

function meter(share, label) {
  const bar = element('i');
  bar.style.width = `${Math.min(100, share * 100)}%`;
  return element('span', { class: share > 0.8 ? 'meter near' : 'meter', role: 'img', 'aria-label': label, title: label }, bar);
}

function stagesCard(sample) {
  if (!sample.stages.length) return null;
  const most = Math.max(1, ...sample.stages.map((stage) => stage.cost.tokens));
  return card('Stages', 'stages', sample.stages.map((stage) => stageRow(stage, most)));
}

function stageRow(stage, most) {
  const { calls, tokens, seconds } = stage.cost;
  const used = calls ? `${calls} call${calls === 1 ? '' : 's'}, ${tokens.toLocaleString('en')} tokens, ${seconds.toFixed(1)} s` : 'no call';
  const row = element('details', { class: 'stage', id: `stage-${stage.name}` },
    element('summary', {}, element('span', { class: 'what', text: stage.name }), meter(tokens / most / 1.25, `${tokens} tokens`), element('span', { class: 'used', text: used })));
  row.addEventListener('toggle', () => {
    if (row.open && !current().stage?.startsWith(`${stage.name}.`)) note({ stage: stage.name });
    if (!row.open || row.childElementCount > 1) return;
    let call = 0;
    row.append(...stage.events.map((event) => {
      call += event.kind === 'answer' ? 1 : 0;
      return eventView(event, stage.name, call);
    }).filter(Boolean));
  });
  return row;
}

const EVENTS = {
  answer(event, stage, call) {
    const told = `${event.prompt_tokens.toLocaleString('en')} + ${event.completion_tokens.toLocaleString('en')} tokens, ${event.latency_seconds.toFixed(1)} s`;
    const ended = event.finish_reason === 'stop' ? '' : `, ended by ${event.finish_reason}`;
    return element('div', { class: 'event', id: `stage-${stage}.${call}` },
      element('h3', {}, `Call ${call}: ${event.prompt} `, element('a', { href: address({ ...current(), test: null, stage: `${stage}.${call}` }), text: 'link' })),
      element('p', { class: 'used', text: `${event.model}, ${told}${ended}` }),
      event.messages.map((message, at) => element('details', { class: 'message', open: message.role === 'user' && at >= event.messages.length - 1 },
        element('summary', { text: `Asked (${message.role}), ${message.content.length.toLocaleString('en')} characters` }), textBlock(message.content, 'prompt'))),
      event.reasoning && element('details', { class: 'message' }, element('summary', { text: 'Reasoning' }), textBlock(event.reasoning, 'reasoning')),
      element('details', { class: 'message', open: true }, element('summary', { text: 'Answer' }), textBlock(event.text, 'answer')));
  },
  execution(event) {
    return element('div', { class: 'event' }, element('h3', {}, 'Program run ', badge(letterOf(event.verdict))),
      event.tests.map((test, place) => element('details', { class: 'message' },
        element('summary', { text: `test ${place + 1}: ${test.verdict.replaceAll('_', ' ')}, ${test.cpu_seconds.toFixed(3)} s` }),
        part('Printed', textBlock(test.stdout || '(nothing)', 'stdout')), test.stderr && part('stderr', textBlock(test.stderr, 'stderr')))),
      element('details', { class: 'message' }, element('summary', { text: 'The program' }), textBlock(event.program, 'program')));
  },
  stage_end(event) {
    return event.program ? null : element('p', { class: 'event', text: 'No program after this stage.' });
  },
};

function eventView(event, stage, call) {
  if (EVENTS[event.kind]) return EVENTS[event.kind](event, stage, call);
  const { kind, ...values } = event;
  const title = kind.replaceAll('_', ' ') + (values.step ? `: ${values.step}` : '');
  const told = values.step ? values.values ?? values.reason : values;
  return element('details', { class: 'message event' }, element('summary', { text: title }),
    textBlock(typeof told === 'string' ? told : JSON.stringify(told, null, 1), title));
}

function letterOf(verdict) {
  return Object.keys(NAMES).find((letter) => NAMES[letter] === verdict.replaceAll('_', ' ')) || 'I';
}
