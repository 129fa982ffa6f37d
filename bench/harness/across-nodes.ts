import { judge } from './goals.js'
import type { StoredResult } from './stored-result.js'
import type { Figure } from './suite.js'

/** What has to hold on every supported version of Node, by suite. */
export const everywhere: Readonly<Record<string, string>> = {
  guard: 'P1',
  verify: 'P3',
  refresh: 'P8',
}

type Run = Pick<StoredResult, 'suite' | 'machine' | 'result'>

/** A figure for each version of Node that one of these suites ran on: how many of theirs are missed. */
export function acrossNodes(runs: readonly Run[]): readonly Figure[] {
  const checked = runs.filter(({ suite }) => everywhere[suite] !== undefined)
  const majors = [...new Set(checked.map(majorOf))].sort((a, b) => a - b)
  return majors.map((major) => {
    const here = checked.filter((run) => majorOf(run) === major)
    const missed = here
      .flatMap(({ suite, result }) =>
        result.figures.filter(({ goal }) => goal === everywhere[suite]),
      )
      .filter((figure) => judge(figure).verdict === 'missed')
    const isWhole = here.length === Object.keys(everywhere).length
    return {
      goal: 'P14',
      what: `Node ${major}: missed figures of protected Fastify routes, new tokens and refresh`,
      values: isWhole ? [missed.length] : [],
      atMost: 0,
      why: 'each Node',
    }
  })
}

function majorOf({ machine }: Run): number {
  return Number.parseInt(machine.node, 10)
}
