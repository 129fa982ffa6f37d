import { describe, inject, it, type TestContext } from 'vitest'
import type { Surface } from '../../../src/ports/surface.js'
import { type HostKind, hostKind } from './hosts.js'

/** One dimension of the matrix, such as the stores, with the cells that the running shelf has of it. */
interface Dimension<Cell> {
  readonly cells: readonly Cell[]
  /** Runs the suite for each cell, whose name follows the title in brackets. A nested suite may go without a title. */
  describe(title: string, body: (cell: Cell) => void): void
  describe(body: (cell: Cell) => void): void
  it(
    title: string,
    body: (cell: Cell, context: TestContext) => Promise<void> | void,
    timeoutMs?: number,
  ): void
  /** The cells that meet the condition. A shelf may have none of them, and then nothing runs. */
  only(condition: (cell: Cell) => boolean): Dimension<Cell>
}

function dimension<Cell>(cells: readonly Cell[], nameOf: (cell: Cell) => string): Dimension<Cell> {
  const titled = (title: string, cell: Cell) => `${title} [${nameOf(cell)}]`.trim()
  return {
    cells,
    describe(
      titleOrBody: string | ((cell: Cell) => void),
      body: (cell: Cell) => void = () => undefined,
    ) {
      const [title, suite] =
        typeof titleOrBody === 'string' ? [titleOrBody, body] : (['', titleOrBody] as const)
      for (const cell of cells) describe(titled(title, cell), () => suite(cell))
    },
    it(title, body, timeoutMs) {
      for (const cell of cells) it(titled(title, cell), (context) => body(cell, context), timeoutMs)
    },
    only: (condition) => dimension(cells.filter(condition), nameOf),
  }
}

const { surfaces, hosts, frameworks, stores, sampleStores } = inject('cells')

const hostsOf = (cells: readonly (typeof hosts)[number][]): Dimension<HostKind> =>
  dimension(
    cells.map(([framework, store]) => hostKind(framework, store)),
    ({ name }) => name,
  )

/** For what holds on each surface alike. Tests about the difference of the two name both themselves. */
export const eachSurface: Dimension<Surface> = dimension(surfaces, (surface) => surface)

/**
 * For what goes through the whole library: every framework and almost every store once, in pairs. An adapter of a
 * framework hands the library a request and gets a reply, a store documents, so neither can meet the other, and all
 * pairs would show no more than these at four times the price.
 */
export const eachHost = hostsOf(hosts)

/** For what a framework could do to a request or a reply: paths, bodies, headers, cookies. */
export const eachFramework = hostsOf(frameworks)

/** For what only a store could do: order, races, losses. */
export const eachStore = hostsOf(stores)

/**
 * For what depends on what every store promises, and on nothing else of it: the conformance kit holds each store to
 * the promise, and these see that the library asks for no more.
 */
export const eachSampleStore = hostsOf(sampleStores)
