/** The deployment plan of `svc plan` and `svc deploy --plan`. */
import { resolve } from 'node:path';
import { applyChanges, projectFiles, readNamedFile } from '../../project/directory/files.ts';
import { readMetadata } from '../../project/directory/read-metadata.ts';
import { indented } from '../../project/directory/write-metadata.ts';
import { shapeProblems } from '../../project/document.ts';
import { EXIT, failure, type Problem, ProjectFailure } from '../../project/failure.ts';
import { isEmptyPlan, makePlan, type DeploymentPlan, planJson, printPlan } from '../../deployment/plan.ts';
import { isJsonObject, parseJson } from '../../util/json.ts';
import { type CommandContext, flagOption, type CommandOutcome, textOption } from '../context.ts';
import { secondsOption } from './run-options.ts';

/** @param hashOnly compute only the hash of the plan @throws ProjectFailure */
export async function planOf(context: CommandContext, hashOnly = false): Promise<DeploymentPlan> {
  const project = await context.project();
  const read = readMetadata(project.metadata);
  const kinds = await context.kinds();
  const problems = shapeProblems(read, kinds);
  if (problems.length > 0) throw new ProjectFailure(problems);
  return makePlan(project, read, await context.server(), kinds, {
    tries: !flagOption(context, 'noTry'),
    statementTimeoutMs: secondsOption(context, 'statementTimeout', '--statement-timeout') ?? 60_000,
    lockTimeoutMs: secondsOption(context, 'lockTimeoutSql', '--lock-timeout-sql') ?? 5_000,
    timeoutMs: secondsOption(context, 'timeout', '--timeout') ?? 300_000,
    ...(hashOnly ? { hashOnly } : {}),
  });
}

/** `svc plan` */
export async function runPlanCommand(context: CommandContext): Promise<CommandOutcome> {
  const plan = await planOf(context);
  const out = textOption(context, 'out');
  if (out !== undefined) {
    const path = resolve(context.cwd, out);
    applyChanges(projectFiles(resolve(path, '..')), new Map([[path, `${indented(planJson(plan))}\n`]]));
  }
  const failed = plan.migrations.filter(({ state }) => state === 'failed');
  const problems = failed.map(
    ({ message = '', file, line, column }): Problem => ({
      code: 'migration',
      message,
      file,
      ...(line === undefined ? {} : { line }),
      ...(column === undefined ? {} : { column }),
    }),
  );
  // Objects that svc deploy would reject.
  const inconsistent = flagOption(context, 'allowInconsistent') ? [] : plan.inconsistencies.problems;
  const isFound = flagOption(context, 'detailedExitCode') && !isEmptyPlan(plan);
  const exit = problems.length > 0 ? EXIT.failed : inconsistent.length > 0 ? EXIT.inconsistent : isFound ? EXIT.found : EXIT.done;
  return { exit, problems: [...problems, ...inconsistent], text: printPlan(plan), data: { plan: planJson(plan) } };
}

/** @throws ProjectFailure if the plan in the file is not up to date */
export async function requirePlan(context: CommandContext, file: string): Promise<void> {
  const text = readNamedFile(context.cwd, file);
  if (text === undefined) throw failure('missing-file', `the plan ${file} does not exist`, {}, EXIT.usage);
  const json = parseJson(text);
  const hash = isJsonObject(json) ? json['hash'] : undefined;
  const now = await planOf({ ...context, options: { ...context.options, noTry: true } }, true);
  if (hash !== now.hash)
    throw failure('plan', 'the files or the service have changed since the plan was made: run svc plan --out again', { file });
}
