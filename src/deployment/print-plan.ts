/** A plan as text: the news, what a person must decide, then the details. */
import { printChanges } from '../project/document-diff.ts';
import { counted } from '../util/counted.ts';
import { type Paint, painter, type Style } from '../util/paint.ts';
import type { Decision } from './decisions.ts';
import { blockingLines } from './locks.ts';
import type { DeploymentPlan, NotCompared } from './deployment-plan.ts';
import { type SharedChange, sharedChanges } from './schema-change.ts';
import { type PlanSummary, summaryParts } from './summary.ts';
import type { PlannedSeed } from './seed-trial.ts';
import type { PlannedStep } from './trial.ts';

export interface PrintOptions {
  /** Lists the changes of schemas that follow from another one too. */
  readonly verbose: boolean;
  readonly paint: Paint;
}

const PLAIN: PrintOptions = { verbose: false, paint: painter(false) };

interface Section {
  readonly title: string;
  readonly lines: readonly string[];
}

/** Returns the plan as text. Equal plans have equal texts. */
export function printPlan(plan: DeploymentPlan, summary: PlanSummary, options: PrintOptions = PLAIN): string {
  const { changes, migrations, seeds, notes, hash } = plan;
  const { paint } = options;
  const sections: readonly Section[] = [
    { title: 'to decide', lines: summary.decisions.map((decision) => decisionLine(decision, paint)) },
    { title: 'migrations', lines: migrations.flatMap((step) => stepLines(step, paint)) },
    { title: 'seeds', lines: seeds.map((seed) => seedLine(seed, paint)) },
    {
      title: 'metadata',
      lines:
        changes.length === 0
          ? []
          : printChanges(changes)
              .split('\n')
              .map((line) => paintedChange(line, paint)),
    },
    { title: 'access', lines: accessLines(plan) },
    ...schemaSections(plan, summary, options),
    ...inconsistencySections(plan),
    { title: 'not compared', lines: omittedLines(plan.notCompared) },
  ];
  return [
    summaryLine(summary, paint),
    ...sections.flatMap(({ title, lines }) =>
      lines.length === 0 ? [] : ['', paint('bold', `${title}:`), ...lines.map((line) => `  ${line}`)],
    ),
    ...(options.verbose || summary.derived === 0
      ? []
      : ['', paint('dim', `${counted(summary.derived, 'derived schema change')} not listed: use --verbose`)]),
    ...(notes.length === 0 ? [] : ['', ...notes.map((note) => `note: ${note}`)]),
    '',
    paint('dim', `plan ${hash}`),
  ].join('\n');
}

function summaryLine(summary: PlanSummary, paint: Paint): string {
  const { failing, changes, breaking, others } = summaryParts(summary);
  const painted = (style: Style, part: string | undefined): readonly string[] => (part === undefined ? [] : [paint(style, part)]);
  return [...painted('red', failing), ...painted('bold', changes), ...painted('red', breaking), ...painted('yellow', others)].join('; ');
}

const DECISIONS: Readonly<Record<Decision['kind'], readonly [string, Style]>> = {
  destructive: ['destructive', 'red'],
  breaking: ['breaking', 'red'],
  'row-filter': ['row filter', 'yellow'],
};

function decisionLine({ kind, message, roles, file, line }: Decision, paint: Paint): string {
  const [label, style] = DECISIONS[kind];
  const where = file === undefined ? roles.join(', ') : `${file}:${line ?? 1}`;
  return `${paint(style, label)}: ${where}${where === '' ? '' : ': '}${message}`;
}

function stepLines({ source, version, name, state, message, file, line, locks = [] }: PlannedStep, paint: Paint): readonly string[] {
  const where = state === 'failed' ? ` at ${file}${line === undefined ? '' : `:${line}`}` : '';
  const shown = state === 'failed' ? paint('red', state) : state;
  return [
    `${source} ${version} ${name}: ${shown}${where}${message === undefined ? '' : `: ${message}`}`,
    ...blockingLines(locks).map((text) => `  ${text}`),
  ];
}

function seedLine({ source, name, state, message }: PlannedSeed, paint: Paint): string {
  return `${source} ${name}: ${state === 'failed' ? paint('red', state) : state}${message === undefined ? '' : `: ${message}`}`;
}

const CHANGE_STYLES: Readonly<Record<string, Style>> = { '+': 'green', '-': 'red', '~': 'yellow' };

function paintedChange(line: string, paint: Paint): string {
  const sign = line.slice(0, 1);
  const style = CHANGE_STYLES[sign];
  return (style === undefined ? line : `${paint(style, sign)}${line.slice(1)}`).replace(/! role .+ gains access$/, (mark) =>
    paint('yellow', mark),
  );
}

function accessLines({ changes }: DeploymentPlan): readonly string[] {
  return changes.flatMap(({ role, access, object, details }) =>
    access === undefined ? [] : [`${role ?? ''} ${access}: ${object}${details.length === 0 ? '' : ` (${details.join('; ')})`}`],
  );
}

/** Breaking changes are among the decisions, so only their derived ones are left to list. */
function schemaSections({ schemas }: DeploymentPlan, summary: PlanSummary, { verbose, paint }: PrintOptions): readonly Section[] {
  const listed: readonly SharedChange[] = verbose ? sharedChanges(schemas) : summary.schemas.filter(({ kind }) => kind !== 'breaking');
  const styles = { breaking: 'red', dangerous: 'yellow', safe: 'green' } as const;
  return (['breaking', 'dangerous', 'safe'] as const).map((kind) => ({
    title: `schema, ${paint(styles[kind], kind)}`,
    lines: listed.filter((change) => change.kind === kind).map(({ roles, message }) => `${roles.join(', ')}: ${message}`),
  }));
}

function inconsistencySections({ inconsistencies }: DeploymentPlan): readonly Section[] {
  const isOld = (reason: string): boolean => inconsistencies.before.includes(reason);
  return [
    { title: 'would be inconsistent', lines: inconsistencies.after.filter((reason) => !isOld(reason)) },
    { title: 'would stay inconsistent', lines: inconsistencies.after.filter(isOld) },
    {
      title: 'may be inconsistent (not known until the new sources and remote schemas exist)',
      lines: inconsistencies.notKnown,
    },
  ];
}

function omittedLines({ roles, sources, remoteSchemas }: NotCompared): readonly string[] {
  const line = (noun: string, names: readonly string[], reason: string): readonly string[] =>
    names.length === 0 ? [] : [`${noun} ${names.join(', ')}: ${reason}`];
  return [
    ...line('roles', roles, 'there are too many roles, or their schemas are too large'),
    ...line('sources', sources, 'their connection settings change, so the plan uses the tables that the service knows'),
    ...line(
      'remote schemas',
      remoteSchemas,
      'they are new or their connection settings change, and a plan sends no requests to remote servers',
    ),
  ];
}
