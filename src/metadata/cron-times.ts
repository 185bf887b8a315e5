import { Cron } from 'croner';

/**
 * Returns the next `count` times of a valid cron expression after `after`, in UTC; fewer if it has no more. If both the day of the month
 * and the day of the week are restricted, either is enough.
 */
export function cronTimes(expression: string, after: Date, count: number): readonly Date[] {
  return new Cron(expression.trim(), { utcOffset: 0, paused: true }).nextRuns(count, after);
}
