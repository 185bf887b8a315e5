import { EXIT, failure } from '../../project/failure.ts';
import type { MigrationOptions } from '../../migrations/run-migrations.ts';
import { type CommandContext, flagOption, textOption } from '../context.ts';

/** @returns milliseconds @throws ProjectFailure */
export function secondsOption(context: CommandContext, name: string, flag: string): number | undefined {
  const text = textOption(context, name);
  if (text === undefined) return undefined;
  const seconds = Number(text);
  if (!Number.isFinite(seconds) || seconds < 0 || text.trim() === '')
    throw failure('usage', `${flag} must be a number of seconds, not "${text}"`, {}, EXIT.usage);
  return seconds * 1000;
}

/** Options of a migration run. @throws ProjectFailure */
export function runOptions(context: CommandContext): MigrationOptions {
  return {
    skipExecution: flagOption(context, 'skipExecution'),
    withoutTransaction: flagOption(context, 'noTransaction'),
    singleTransaction: flagOption(context, 'singleTransaction'),
    lockTimeoutMs: secondsOption(context, 'lockTimeout', '--lock-timeout') ?? 60_000,
    limits: {
      statementTimeoutMs: secondsOption(context, 'statementTimeout', '--statement-timeout'),
      lockTimeoutMs: secondsOption(context, 'lockTimeoutSql', '--lock-timeout-sql'),
    },
    report: context.warn,
  };
}

/** @throws ProjectFailure if the text is not the version of a migration */
export function versionOption(text: string, flag: string): bigint {
  if (!/^\d+$/.test(text)) throw failure('usage', `${flag} must be the version number of a migration, not "${text}"`, {}, EXIT.usage);
  return BigInt(text);
}
