import { EXIT, failure } from '../../project/failure.ts';
import type { RunOptions } from '../../migrations/run-migrations.ts';
import { type Call, flagOption, textOption } from '../call.ts';

/** Seconds of an option, as milliseconds. @throws ProjectFailure */
export function secondsOption(call: Call, name: string, flag: string): number | undefined {
  const text = textOption(call, name);
  if (text === undefined) return undefined;
  const seconds = Number(text);
  if (!Number.isFinite(seconds) || seconds < 0 || text.trim() === '')
    throw failure('usage', `${flag} is to be a number of seconds, not "${text}"`, {}, EXIT.usage);
  return seconds * 1000;
}

/** How migrations are run, from the flags. @throws ProjectFailure */
export function runOptions(call: Call): RunOptions {
  return {
    skipExecution: flagOption(call, 'skipExecution'),
    // Commander reads `--no-x` as the opposite of `--x`.
    withoutTransaction: call.options['transaction'] === false,
    singleTransaction: flagOption(call, 'singleTransaction'),
    lockTimeoutMs: secondsOption(call, 'lockTimeout', '--lock-timeout') ?? 60_000,
    limits: {
      statementTimeoutMs: secondsOption(call, 'statementTimeout', '--statement-timeout'),
      lockTimeoutMs: secondsOption(call, 'lockTimeoutSql', '--lock-timeout-sql'),
    },
    tell: call.warn,
  };
}

/** A version of a migration. @throws ProjectFailure */
export function versionOption(text: string, flag: string): bigint {
  if (!/^\d+$/.test(text)) throw failure('usage', `${flag} is to be a version, a number, not "${text}"`, {}, EXIT.usage);
  return BigInt(text);
}
