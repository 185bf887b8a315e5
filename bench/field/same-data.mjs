// Compares answers as data: rows and values, not bytes. Keys may be in any order, numbers may be strings, and so may lists whose order the
// query leaves open.

/** Lists by query whose order the query leaves open. */
const UNORDERED = {
  simple: ['customer'],
  filtered: ['tracks_of_genre'],
  filtered_large: ['tracks_of_genre'],
  aggregate: ['nodes'],
  deep: ['albums', 'tracks'],
};
/** The query leaves open which rows of a list its limit selects. `of` are the variables that select all of them. */
const ANY_ROWS = { filtered: { list: 'tracks_of_genre', of: { track_lim: 1000 } } };
/** Keys by query with other values at each request. */
const NEW_VALUES = { insert: ['invoice_line_id'] };

/** @returns variables with which the reference answers with all rows that the query may choose from, or null if it has no choice */
export function allRowsOf(query, variables) {
  const choice = ANY_ROWS[query];
  return choice === undefined ? null : { ...variables, ...choice.of };
}

/**
 * @param reference data of the reference server
 * @param answer data of another server
 * @param all the reference's data with the variables of `allRowsOf`
 * @returns the first difference as a text, or null
 */
export function differenceOf(query, reference, answer, all = null) {
  const rules = { unordered: UNORDERED[query] ?? [], fresh: NEW_VALUES[query] ?? [] };
  const list = ANY_ROWS[query]?.list;
  if (list === undefined) return firstDifference(normalise(reference, rules), normalise(answer, rules), '$');
  const withoutList = (value) =>
    normalise(
      mapKey(value, list, (rows) => rows?.length ?? null),
      rules,
    );
  return firstDifference(withoutList(reference), withoutList(answer), '$') ?? foreignRow(all, answer, list, rules);
}

/** Compares the lists in order of their parents. @returns a row of the answer that the reference does not have, as a text, or null */
function foreignRow(all, answer, list, rules) {
  const known = listsOf(normalise(all, rules), list);
  for (const [index, rows] of listsOf(normalise(answer, rules), list).entries()) {
    const texts = new Set((known[index] ?? []).map((row) => JSON.stringify(row)));
    for (const row of rows) if (!texts.has(JSON.stringify(row))) return `${list} has the unknown row ${excerpt(row)}`;
  }
  return null;
}

function listsOf(value, key) {
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([name, child]) => (name === key ? [child ?? []] : listsOf(child, key)));
}

function mapKey(value, key, change) {
  if (Array.isArray(value)) return value.map((item) => mapKey(item, key, change));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, child]) => [name, name === key ? change(child) : mapKey(child, key, change)]),
  );
}

/** @returns the value with sorted keys, numbers of twelve digits, and sorted lists where the order is open */
function normalise(value, rules, key = '') {
  if (Array.isArray(value)) {
    const items = value.map((item) => normalise(item, rules));
    if (!rules.unordered.includes(key)) return items;
    return items
      .map((item) => [JSON.stringify(item), item])
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, item]) => item);
  }
  if (value !== null && typeof value === 'object') {
    const entries = Object.keys(value)
      .sort()
      .map((name) => [name, value[name]]);
    return Object.fromEntries(
      entries.map(([name, child]) => [name, rules.fresh.includes(name) ? typeof child : normalise(child, rules, name)]),
    );
  }
  const isNumber = typeof value === 'number' || (typeof value === 'string' && /^-?\d+(?:\.\d+)?$/.test(value));
  return isNumber ? Number(Number(value).toPrecision(12)) : value;
}

function firstDifference(reference, answer, path) {
  const isComposite = (value) => value !== null && typeof value === 'object';
  if (!isComposite(reference) || !isComposite(answer) || Array.isArray(reference) !== Array.isArray(answer)) {
    return Object.is(reference, answer) ? null : `${path} is ${excerpt(answer)} instead of ${excerpt(reference)}`;
  }
  if (Array.isArray(reference) && reference.length !== answer.length)
    return `${path} has ${answer.length} rows instead of ${reference.length}`;
  for (const key of Object.keys({ ...reference, ...answer })) {
    const found = firstDifference(reference[key], answer[key], Array.isArray(reference) ? `${path}[${key}]` : `${path}.${key}`);
    if (found !== null) return found;
  }
  return null;
}

function excerpt(value) {
  const text = JSON.stringify(value) ?? 'missing';
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
