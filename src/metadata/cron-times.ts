import { Cron } from 'croner';

/**
 * The next times of a cron expression, in UTC, after `after`; fewer than `count` where it has no more. Where both the day of
 * the month and the day of the week are restricted, either is enough.
 * @param expression is valid
 */
export function cronTimes(expression: string, after: Date, count: number): readonly Date[] {
  return new Cron(expression.trim(), { utcOffset: 0, paused: true }).nextRuns(count, after);
}
