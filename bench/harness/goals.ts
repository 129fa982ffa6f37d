import { median, rounded } from './statistics.js'
import type { Figure } from './suite.js'

/** Every goal of the suite by its id, in the order of the page. */
export const goals: Readonly<Record<string, string>> = {
  P1: 'a protected Fastify route',
  P2: 'a protected Express or Koa route',
  P3: 'access tokens never seen before',
  P4: 'a protected route with its denylist on Redis',
  P5: 'a protected route while sixteen people sign in',
  P6: 'logins',
  P7: 'memory that sixteen logins at once add',
  P8: 'refresh on Postgres',
  P9: 'machine grants on Postgres',
  P10: 'import, start and size',
  P11: 'a million rows',
  P12: 'the sweep',
  P13: 'the configuration store',
  P14: 'Node 20, 22 and 24',
  P15: 'trips to the store before a reply',
  P16: 'the first authenticated reply after a start',
  P17: 'memory in the long run',
  P18: 'a protected route at half load',
  P19: 'a dead connection in the pool',
  P20: 'prepared statements on a connection',
}

/** `met` and `missed` are of figures with a limit. */
export type Verdict = 'met' | 'missed' | 'reported'

export interface Judged {
  readonly figure: Figure
  readonly verdict: Verdict
  /** How far off the limit a missed figure is, such as `12 % over`; else empty. */
  readonly by: string
}

/** Judges the median of the rounds. A figure without a value is missed, whether it has a limit or not. */
export function judge(figure: Figure): Judged {
  const { atMost, atLeast, values } = figure
  if (values.length === 0) return { figure, verdict: 'missed', by: 'not measured' }
  const middle = median(values)
  if (atMost === undefined && atLeast === undefined) return { figure, verdict: 'reported', by: '' }
  // In this form, not a number is a miss.
  if (atMost !== undefined && !(middle <= atMost)) {
    return { figure, verdict: 'missed', by: distance(middle, atMost, 'over') }
  }
  if (atLeast !== undefined && !(middle >= atLeast)) {
    return { figure, verdict: 'missed', by: distance(middle, atLeast, 'short') }
  }
  return { figure, verdict: 'met', by: '' }
}

/** Goals of which there is no figure at all. */
export function unmeasured(
  wanted: readonly string[],
  figures: readonly Figure[],
): readonly string[] {
  return wanted.filter((id) => !figures.some(({ goal }) => goal === id))
}

export function limitText({ atMost, atLeast, unit }: Figure): string {
  const after = unit === undefined ? '' : ` ${unit}`
  if (atMost !== undefined) return `≤ ${limit(atMost)}${after}`
  return atLeast === undefined ? '' : `≥ ${limit(atLeast)}${after}`
}

function distance(middle: number, limit: number, side: string): string {
  if (!Number.isFinite(middle)) return 'not a number'
  if (limit === 0) return `${rounded(middle)} ${side}`
  return `${rounded((Math.abs(middle - limit) / limit) * 100)} % ${side}`
}

function limit(value: number): string {
  return Number.isInteger(value) ? value.toLocaleString('en') : String(Number(value.toPrecision(3)))
}
