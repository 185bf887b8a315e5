/**
 * Many subscribers in one statement: relations of its own for each of them, because those of distributed tables cannot look at
 * values that come in rows.
 */
import type { CompilerOptions, LiveQuery } from '../../../backend/backend.ts';
import { type Dialect, identifier, join, print, type Sql, sql } from '../../../sql/fragment.ts';
import type { SelectRoot } from '../../../ir/select.ts';
import { dialect } from '../../postgresql/compile/dialect.ts';
import { checkOfValues } from '../../postgresql/compile/live-query.ts';
import { isTimeless } from '../../postgresql/compile/timeless.ts';
import { COPY, relationList } from './context.ts';
import { createDraft } from './draft.ts';
import { rootsSql } from './roots.ts';
import { streamSql } from './stream.ts';

/** A list of relations and a select that are the same for each subscriber but for the numbers of aliases and placeholders. */
interface Template {
  readonly relations: string;
  readonly select: string;
}

/** Like aliases, placeholders are marked by what stands in no text of the database. */
const MARKED: Dialect = { ...dialect, placeholder: (index) => `${COPY}${index};` };
const MARK = new RegExp(`${COPY}(?:(\\d+);)?`, 'g');

export function compileLive(options: CompilerOptions, roots: readonly SelectRoot[]): LiveQuery {
  const draft = createDraft(options, true);
  const [first] = roots;
  const isStream = first?.cursor !== undefined && first.query.kind === 'rows';
  const select = isStream ? streamSql(draft, first.query, first.cursor) : rootsSql(draft, roots);
  const alias = draft.context.alias();
  const columns = [...roots.map((_, i) => identifier(`r${i + 1}`)), ...(isStream ? [identifier('cursor')] : [])];
  const printed = print({ kind: 'sequence', items: [relationList(draft), SPLIT, select] }, MARKED);
  const [relations = '', body = ''] = printed.text.split(SPLIT_TEXT);
  const marked = (node: Sql): string => print(node, MARKED).text;
  const cells = join(
    columns.map((column) => sql`${alias}.${column}`),
    sql`, `,
  );
  const from = marked(sql`${alias} (${join(columns, sql`, `)})`);
  const template: Template = { relations, select: `${marked(cells)}, null from (${body}) as ${from}` };
  const { parameters } = printed;
  const { context } = draft;
  return {
    text: written([template], parameters.length),
    parameters,
    columns: roots.length,
    cursor: isStream ? parameters.findIndex(({ operand }) => operand.value.kind === 'cursor') : null,
    repeatable: !context.volatile,
    tellsTime: false,
    dependsOn: context.dependsOn ?? 'rows on other servers, whose changes the coordinator does not see',
    isTimeless: (values) => parameters.every((parameter, i) => isTimeless(parameter, values[i] ?? null)),
    batch: (cohorts) => ({
      text: written(
        cohorts.map(() => template),
        parameters.length,
      ),
      values: cohorts.flat(),
    }),
    check: (values) => checkOfValues(parameters, values),
  };
}

const SPLIT_TEXT = `${COPY}${COPY}`;
const SPLIT: Sql = { kind: 'template', texts: [SPLIT_TEXT], values: [] };

function written(templates: readonly Template[], width: number): string {
  const relations: string[] = [];
  const selects: string[] = [];
  templates.forEach((template, cohort) => {
    const numbered = (text: string): string =>
      text.replace(MARK, (_mark, index: string | undefined) => (index === undefined ? `_${cohort}` : `$${cohort * width + Number(index)}`));
    if (template.relations !== '') relations.push(numbered(template.relations));
    selects.push(`select ${cohort}, ${numbered(template.select)}`);
  });
  const list = relations.length === 0 ? '' : `with ${relations.join(', ')} `;
  return `${list}${selects.join(' union all ')}`;
}
