import { parseArgs } from 'node:util'

export interface CommandLine {
  /** The suites to run; all of them if there is none. */
  readonly names: readonly string[]
  readonly check: boolean
  readonly list: boolean
  readonly smoke: boolean
  /** Whether only the page is written, from the results that are there. */
  readonly page: boolean
  /** Whether results and the page are written. */
  readonly writes: boolean
  readonly rounds: number
  /** The program that contenders run on. */
  readonly node: string
  /** Whether what has to hold on every supported Node is measured on each of them. */
  readonly nodes: boolean
}

/** Throws, with what is wrong, for anything that it does not know. */
export function readCommandLine(
  words: readonly string[],
  known: readonly string[],
  ownNode: string,
): CommandLine {
  const { values, positionals } = parseArgs({
    args: [...words],
    allowPositionals: true,
    options: {
      check: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      smoke: { type: 'boolean', default: false },
      page: { type: 'boolean', default: false },
      dry: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      node: { type: 'string', default: ownNode },
      nodes: { type: 'boolean', default: false },
    },
  })
  const unknown = positionals.filter((name) => !known.includes(name))
  if (unknown.length > 0) {
    throw new Error(`no such suite: ${unknown.join(', ')} (there are: ${known.join(', ')})`)
  }
  const { check, list, smoke, page, dry, node, nodes } = values
  if (smoke && check) throw new Error('--smoke measures nothing that --check could judge')
  if (nodes && (positionals.length > 0 || smoke || node !== ownNode)) {
    throw new Error('--nodes chooses suites and Nodes itself, and measures')
  }
  if (page && words.length > 1) throw new Error('--page runs nothing, so it takes nothing else')
  const rounds = smoke ? 1 : Number(values.rounds ?? 5)
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds takes a whole number')
  const writes = !smoke && !dry
  return { names: positionals, check, list, smoke, page, writes, rounds, node, nodes }
}
