// Checks the language of the code, as far as a script can: how doc comments begin, that components are not described as people, that an
// exported name has one meaning, and that commit subjects name an area. CONTRIBUTING.md has the rules. Reading is what matters: this
// script keeps what a reader has already mended.
//
//   node scripts/check-words.mjs                 the whole repository
//   node scripts/check-words.mjs src/state test  only these paths
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Words that hide the subject of a doc comment when they begin it. */
const FIRST_WORDS =
  /^(?:Of|What|Whether|Hears|Tells|As of|By|So many|The same|Whoever|Those|Which|That|How|Where|Nothing|Nobody|Absent|null:)\b/;

/** Words that describe components as people. */
const PEOPLE = /\b(?:whoever|whomever|whosever|nobody|somebody|those who|strangers?)\b/i;

/** Words that a text in quotes must not contain. */
const PEOPLE_IN_MESSAGES = /\b(?:whoever|whomever|nobody|somebody|those who)\b/i;

const SUBJECT = /^[a-z0-9][a-z0-9./_-]*(?:, [a-z0-9][a-z0-9./_-]*)*: \S.*$/;
const SUBJECT_LENGTH = 72;

/** Folders whose files implement one contract: they may export the same names. */
const CONTRACTS = [/^src\/databases\/[a-z]+\//];

/** Comments of a TypeScript, JavaScript or CSS source. @returns `{line, text, doc}` for each comment, markers removed */
export function commentsOf(source) {
  const comments = [];
  const pattern = /(['"`])(?:\\[\s\S]|(?!\1)[^\\])*\1|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g;
  for (const match of source.matchAll(pattern)) {
    if (match[1] !== undefined) continue;
    const line = source.slice(0, match.index).split('\n').length;
    const doc = match[0].startsWith('/**');
    const text = match[0]
      .replace(/^\/\*+|\*\/$/g, '')
      .replaceAll(/^\s*(?:\*|\/\/+) ?/gm, '')
      .trim();
    comments.push({ line, text, doc });
  }
  return comments;
}

/** Complaints about the comments of one file. @returns one line each */
export function checkComments(file, source) {
  const complaints = [];
  for (const { line, text, doc } of commentsOf(source)) {
    if (doc && FIRST_WORDS.test(text)) complaints.push(`${file}:${line}: a doc comment begins with "${text.split(/\s/, 2).join(' ')}"`);
    const person = PEOPLE.exec(text);
    if (person !== null) complaints.push(`${file}:${line}: a comment says "${person[0]}"`);
  }
  return complaints;
}

/** Complaints about texts in quotes that describe components as people. @returns one line each */
export function checkMessages(file, source) {
  const complaints = [];
  for (const [index, line] of source.split('\n').entries()) {
    const code = line.replace(/\/\/.*$/, '');
    for (const [text] of code.matchAll(/'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`/g)) {
      const person = PEOPLE_IN_MESSAGES.exec(text);
      // A single word may be a name, such as the operating system account `nobody`.
      if (person !== null && /\s/.test(text)) complaints.push(`${file}:${index + 1}: a text says "${person[0]}"`);
    }
  }
  return complaints;
}

/** Complaints about names that several files of one program export. @param files map from path to source @returns one line each */
export function checkExports(files) {
  const places = new Map();
  for (const [file, source] of files) {
    for (const [, name] of source.matchAll(
      /^export (?:default )?(?:async )?(?:abstract )?(?:const|let|function\*?|class|interface|type|enum) ([A-Za-z_$][\w$]*)/gm,
    )) {
      if (!places.has(name)) places.set(name, new Set());
      places.get(name).add(file);
    }
  }
  const complaints = [];
  for (const [name, found] of places) {
    const list = [...found].sort();
    const inContract = (file) => CONTRACTS.find((contract) => contract.test(file));
    if (list.length < 2 || list.every((file) => inContract(file) !== undefined && inContract(file) === inContract(list[0]))) continue;
    complaints.push(`${list[0]}: ${name} is exported by ${list.slice(1).join(', ')}, too`);
  }
  return complaints;
}

/** Complaints about the subjects of commits. @param subjects texts such as `state: keep the version of a draft` */
export function checkSubjects(subjects) {
  return subjects
    .filter((subject) => !SUBJECT.test(subject) || subject.length > SUBJECT_LENGTH)
    .map((subject) => `commit "${subject}": the form is "area: imperative", at most ${SUBJECT_LENGTH} characters`);
}

function git(...args) {
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  return status === 0 ? stdout.split('\n').filter((line) => line !== '') : [];
}

/** Subjects of the commits after the one that made this script a check; older ones stay as they are. */
function subjectsSince() {
  const [first] = git('log', '-S', "'check-words.mjs'", '--format=%H', '--reverse', '--', 'scripts/check.mjs');
  return first === undefined ? [] : git('log', '--no-merges', '--format=%s', `${first}..HEAD`);
}

function main(prefixes) {
  const chosen = (file) => prefixes.length === 0 || prefixes.some((prefix) => file.startsWith(prefix));
  const names = git('ls-files', '-co', '--exclude-standard', 'src', 'packages', 'console/src', 'site', 'scripts', 'bench', 'test').filter(
    (file) => /\.(?:ts|tsx|mjs)$/.test(file) && !file.includes('/fixtures/'),
  );
  const files = new Map();
  for (const file of names) {
    try {
      files.set(file, readFileSync(join(root, file), 'utf8'));
    } catch {
      // Listed by git and removed since.
    }
  }
  const complaints = [];
  for (const [file, source] of files) {
    if (!chosen(file) || file.startsWith('scripts/check-words')) continue;
    complaints.push(...checkComments(file, source));
    if (!/\.test\.|^test\/|^scripts\/|^bench\//.test(file)) complaints.push(...checkMessages(file, source));
  }
  // The service and the console are two programs; both use packages/.
  for (const program of [/^(?:src|packages)\//, /^(?:console\/src|packages)\//]) {
    const sources = [...files].filter(([file]) => program.test(file) && !/\.test\.|\.generated\./.test(file));
    complaints.push(...checkExports(sources).filter((line) => prefixes.length === 0 || prefixes.some((prefix) => line.includes(prefix))));
  }
  if (prefixes.length === 0) complaints.push(...checkSubjects(subjectsSince()));
  for (const complaint of complaints) console.error(complaint);
  console.log(complaints.length === 0 ? 'the words are in order' : `${complaints.length} complaints`);
  return complaints.length === 0 ? 0 : 1;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) process.exit(main(process.argv.slice(2)));
