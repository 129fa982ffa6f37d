import type { Context } from './context.js'
import type { Reason } from './reasons.js'

/** One measured figure, with the goal it belongs to and the limit that it must keep. */
export interface Figure {
  /** The goal's id, such as `P1`. Left out for a figure without a goal. */
  readonly goal?: string
  readonly what: string
  /** One a round; the median is judged. None at all: it could not be measured, which is a miss. */
  readonly values: readonly number[]
  readonly unit?: string
  /** Left out, with `atLeast`, for a figure that is reported only. */
  readonly atMost?: number
  readonly atLeast?: number
  /** What stands in the way of the limit. The page says it of a miss. */
  readonly why?: Reason
}

export interface SuiteTable {
  readonly title?: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
  /** What a reader must know about the table: sentences for the page. */
  readonly note?: string
}

export interface SuiteResult {
  readonly tables: readonly SuiteTable[]
  readonly figures: readonly Figure[]
}

export interface Suite {
  /** As `npm run bench -- <name>` has it. */
  readonly name: string
  readonly title: string
  /** The goals that it has figures for. They count as missed when it fails. */
  readonly goals: readonly string[]
  /** Rejects when a contender does not do its work: then nothing was measured. */
  run(context: Context): Promise<SuiteResult>
}
