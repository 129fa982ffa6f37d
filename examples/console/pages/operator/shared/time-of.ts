import { timeText } from '../../shared/time-text.ts'

/** A time of this host's own routes (epoch milliseconds) as people read it; "never" for null. */
export function timeOf(time: number | null): string {
  return timeText(time === null ? null : new Date(time).toISOString())
}
