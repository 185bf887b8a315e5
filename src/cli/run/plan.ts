/** `svc plan` */
import { resolve } from 'node:path';
import { applyChanges, projectFiles, readNamedFile } from '../../project/directory/files.ts';
import { readMetadata } from '../../project/directory/read-metadata.ts';
import { indented } from '../../project/directory/write-metadata.ts';
import { shapeProblems } from '../../project/document.ts';
import { EXIT, failure, type Problem, ProjectFailure } from '../../project/failure.ts';
import { isEmptyPlan, makePlan, type Plan, planJson, printPlan } from '../../deployment/plan.ts';
import { isJsonObject, parseJson } from '../../util/json.ts';
import { type Call, flagOption, type Outcome, textOption } from '../call.ts';
import { secondsOption } from './run-options.ts';

/** @param hashOnly nothing else of it is wanted. @throws ProjectFailure */
export async function planOf(call: Call, hashOnly = false): Promise<Plan> {
  const project = await call.project();
  const read = readMetadata(project.metadata);
  const kinds = await call.kinds();
  const problems = shapeProblems(read, kinds);
  if (problems.length > 0) throw new ProjectFailure(problems);
  return makePlan(project, read, await call.server(), kinds, {
    tries: call.options['try'] !== false,
    statementTimeoutMs: secondsOption(call, 'statementTimeout', '--statement-timeout') ?? 60_000,
    lockTimeoutMs: secondsOption(call, 'lockTimeoutSql', '--lock-timeout-sql') ?? 5_000,
    timeoutMs: secondsOption(call, 'timeout', '--timeout') ?? 300_000,
    ...(hashOnly ? { hashOnly } : {}),
  });
}

export async function runPlan(call: Call): Promise<Outcome> {
  const plan = await planOf(call);
  const out = textOption(call, 'out');
  if (out !== undefined) {
    const path = resolve(call.cwd, out);
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
  // What deploy would refuse.
  const inconsistent = flagOption(call, 'allowInconsistent') ? [] : plan.inconsistencies.problems;
  const isFound = flagOption(call, 'detailedExitCode') && !isEmptyPlan(plan);
  const exit = problems.length > 0 ? EXIT.failed : inconsistent.length > 0 ? EXIT.inconsistent : isFound ? EXIT.found : EXIT.done;
  return { exit, problems: [...problems, ...inconsistent], text: printPlan(plan), data: { plan: planJson(plan) } };
}

/** Refuses a plan that is not what would be done now. @throws ProjectFailure */
export async function requirePlan(call: Call, file: string): Promise<void> {
  const text = readNamedFile(call.cwd, file);
  if (text === undefined) throw failure('missing-file', `the plan ${file} does not exist`, {}, EXIT.usage);
  const given = parseJson(text);
  const hash = isJsonObject(given) ? given['hash'] : undefined;
  const now = await planOf({ ...call, options: { ...call.options, try: false } }, true);
  if (hash !== now.hash)
    throw failure('plan', 'files or service have changed since the plan was made: make it again with svc plan --out', { file });
}
