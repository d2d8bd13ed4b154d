'use strict';
// Long texts: each problem has a chunk of gzip in base64, in the page or in a script beside it, unpacked when asked for.
// Everything here becomes a text node: the page's policy forbids markup made from strings.

const INDEX = JSON.parse(document.getElementById('index').textContent);
const BESIDE = JSON.parse(document.getElementById('beside').textContent);
const chunks = new Map();
const arriving = new Map();

function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === 'text') made.textContent = value;
    else if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value === true ? '' : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

// The texts of the problem at a place of the index.
function bodyOf(place) {
  if (!chunks.has(place)) chunks.set(place, fetched(place).then(unpacked));
  return chunks.get(place);
}

async function fetched(place) {
  if (!BESIDE) return document.getElementsByClassName('body')[place].textContent;
  const address = `${encodeURIComponent(BESIDE)}/${place}.js`;
  const rules = { createScriptURL: (text) => text };
  const trusted = window.trustedTypes ? (fetched.policy ||= trustedTypes.createPolicy('bodies', rules)) : rules;
  return new Promise((resolve, reject) => {
    arriving.set(place, resolve);
    const script = element('script', {
      onerror: () => reject(new Error(`${BESIDE}/${place}.js is missing: keep the folder beside the page`)),
    });
    script.src = trusted.createScriptURL(address);
    document.head.append(script);
  });
}

// Called by the scripts beside the page.
function receive(place, text) {
  arriving.get(place)?.(text);
}

async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return JSON.parse(await new Response(stream).text());
}

// A program with its colours, which are pairs of a kind and a length, and the numbers of its lines.
function program(source, colours) {
  const code = element('code');
  let at = 0;
  for (let i = 0; i < colours.length; i += 2) {
    const part = source.slice(at, at + colours[i + 1]);
    code.append(colours[i] ? element('span', { class: `t-${colours[i]}`, text: part }) : part);
    at += colours[i + 1];
  }
  code.append(source.slice(at));
  const count = source.replace(/\n$/, '').split('\n').length;
  const numbers = Array.from({ length: count }, (_, line) => line + 1).join('\n');
  return element('div', { class: 'code' },
    element('pre', { class: 'numbers', 'aria-hidden': 'true', text: numbers }),
    element('pre', { tabindex: '0', 'aria-label': 'program' }, code));
}

function textBlock(text, label) {
  return element('pre', { class: 'text', tabindex: '0', 'aria-label': label, text });
}

// The difference of two outputs by lines; in a changed line, the part that differs is marked.
function difference(lines) {
  const block = element('pre', { class: 'diff', tabindex: '0', 'aria-label': 'difference of expected and actual output' });
  lines.forEach(([sign, line], at) => {
    const other = sign === '-' ? lines[at + 1] : lines[at - 1];
    const paired = other && ((sign === '-' && other[0] === '+') || (sign === '+' && other[0] === '-'));
    const row = element('span', { class: sign === '-' ? 'gone' : sign === '+' ? 'new' : 'same' }, `${sign} `);
    row.append(...(paired ? marked(line, other[1]) : [line]), '\n');
    block.append(row);
  });
  return block;
}

function marked(line, other) {
  let start = 0;
  while (start < line.length && line[start] === other[start]) start += 1;
  let end = 0;
  const most = Math.min(line.length, other.length) - start;
  while (end < most && line[line.length - 1 - end] === other[other.length - 1 - end]) end += 1;
  const middle = line.slice(start, line.length - end);
  return [line.slice(0, start), middle && element('mark', { text: middle }), line.slice(line.length - end)].filter(Boolean);
}
