/** The deployment plan of `svc plan` and `svc deploy --plan`. */
import { resolve } from 'node:path';
import { applyChanges, projectFiles, readNamedFile } from '../../project/directory/files.ts';
import { readMetadata } from '../../project/directory/read-metadata.ts';
import { indented } from '../../project/directory/write-metadata.ts';
import { shapeProblems } from '../../project/document.ts';
import { EXIT, type ExitCode, failure, type Problem, ProjectFailure } from '../../project/failure.ts';
import { type DeploymentPlan, isEmptyPlan } from '../../deployment/deployment-plan.ts';
import { planJson } from '../../deployment/plan-json.ts';
import { makePlan } from '../../deployment/plan.ts';
import type { DeployRules } from '../../deployment/source-histories.ts';
import { printPlan } from '../../deployment/print-plan.ts';
import { summaryOf } from '../../deployment/summary.ts';
import type { PlannedStep, PlanOptions } from '../../deployment/trial.ts';
import { isJsonObject, parseJson } from '../../util/json.ts';
import { type CommandContext, flagOption, type CommandOutcome, textOption } from '../context.ts';
import { runOptions, secondsOption } from './run-options.ts';

/** @param hashOnly compute only the hash of the plan @throws ProjectFailure */
export async function planOf(context: CommandContext, hashOnly = false): Promise<DeploymentPlan> {
  const project = await context.project();
  const read = readMetadata(project.metadata);
  const kinds = await context.kinds();
  const problems = shapeProblems(read, kinds);
  if (problems.length > 0) throw new ProjectFailure(problems);
  const rules: DeployRules = {
    allowChanged: flagOption(context, 'allowChanged'),
    allowInconsistent: flagOption(context, 'allowInconsistent'),
    run: runOptions(context),
  };
  const trial: PlanOptions = {
    tries: !flagOption(context, 'noTry'),
    statementTimeoutMs: rules.run.limits.statementTimeoutMs ?? 60_000,
    lockTimeoutMs: rules.run.limits.lockTimeoutMs ?? 5_000,
    timeoutMs: secondsOption(context, 'timeout', '--timeout') ?? 300_000,
    ...(flagOption(context, 'withSeeds') ? { seeds: flagOption(context, 'once') ? 'once' : 'all' } : {}),
    hashOnly,
  };
  return makePlan({ project, read, server: await context.server(), kinds, trial, rules });
}

/** `svc plan` */
export async function runPlanCommand(context: CommandContext): Promise<CommandOutcome> {
  const plan = await planOf(context);
  const { problems, exit } = rejectionOf(plan, flagOption(context, 'allowInconsistent'));
  const summary = summaryOf(plan, problems.length);
  const json = planJson(plan, summary);
  const out = textOption(context, 'out');
  if (out !== undefined) {
    const path = resolve(context.cwd, out);
    applyChanges(projectFiles(resolve(path, '..')), new Map([[path, `${indented(json)}\n`]]));
  }
  const isFound = flagOption(context, 'detailedExitCode') && !isEmptyPlan(plan);
  return {
    exit: exit === EXIT.done && isFound ? EXIT.found : exit,
    problems,
    text: printPlan(plan, summary, { verbose: flagOption(context, 'verbose'), paint: context.paint }),
    data: { plan: json },
  };
}

/** Returns the errors with which `svc deploy` would end. */
function rejectionOf(
  { migrations, seeds, rejections, refusals, inconsistencies, unset }: DeploymentPlan,
  allowInconsistent: boolean,
): { readonly exit: ExitCode; readonly problems: readonly Problem[] } {
  const failed = [...migrations.filter(({ state }) => state === 'failed').map(failureOf), ...seeds.flatMap(({ problems }) => problems)];
  const inconsistent = allowInconsistent ? [] : inconsistencies.problems;
  const first = allowInconsistent ? [] : unset;
  const refused = first.length > 0 ? first : refusals;
  const problems = [...rejections, ...failed, ...(refused.length > 0 ? refused : inconsistent)];
  if (rejections.length + failed.length > 0) return { exit: EXIT.failed, problems };
  if (first.length === 0 && refusals.length > 0) return { exit: EXIT.unreachable, problems };
  return { exit: first.length + inconsistent.length > 0 ? EXIT.inconsistent : EXIT.done, problems };
}

function failureOf({ message = '', code, file, line, column }: PlannedStep): Problem {
  return {
    code: 'migration',
    message: `${message}${code === undefined ? '' : ` [${code}]`}`,
    file,
    ...(line === undefined ? {} : { line }),
    ...(column === undefined ? {} : { column }),
  };
}

/** @throws ProjectFailure if the plan in the file is not up to date */
export async function requirePlan(context: CommandContext, file: string): Promise<void> {
  const text = readNamedFile(context.cwd, file);
  if (text === undefined) throw failure('missing-file', `the plan ${file} does not exist`, {}, EXIT.usage);
  const json = parseJson(text);
  const hash = isJsonObject(json) ? json['hash'] : undefined;
  const now = await planOf({ ...context, options: { ...context.options, noTry: true } }, true);
  if (hash !== now.hash)
    throw failure('plan', 'the files, the service or --with-seeds have changed since the plan was made: run svc plan --out again', {
      file,
    });
}
