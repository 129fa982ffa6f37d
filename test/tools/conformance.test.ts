import { describe, expect, it } from 'vitest'
import { memory } from '../../adapters/memory/index.js'
import {
  groupColumn,
  play,
  problemsOf,
  scheduleColumn,
  skipsOf,
  tableOf,
} from '../../tools/conformance/main.js'

/** A store that fails one case, as its author skipped a group of others. */
const wrong = {
  name: 'wrong',
  start: async () => ({
    open: () => {
      const right = memory()
      const lease = { ...right.lease, read: async () => ({ owner: 'x', renewal: 1 }) }
      return { backend: { ...right, lease } }
    },
    skip: {
      failures: 'no connection',
      'lost answers': 'no connection',
      interleavings: 'no connection',
      races: 'not today',
      prepare: 'not today',
    },
    stop: async () => {},
  }),
}

describe('R-LIB-06 npm run test:long -- conformance', () => {
  it('tells what failed and what was skipped, and why', async () => {
    const played = await play(wrong)
    if (!played) throw new Error('not played')
    const column = groupColumn(played)
    expect(column.cells.get('basics')).toBe('14')
    expect(column.cells.get('races')).toBe('0 of 12, 12 skipped')
    expect(column.cells.get('lease')).toMatch(/^\d of 7$/)
    expect(problemsOf([played])).toContainEqual(
      expect.stringMatching(/^wrong: a lease nobody ever held reads as null\n.*promise: Lease/s),
    )
    expect(skipsOf([played])).toContain(
      'wrong: of eight takes, one receives the document: not today',
    )
    expect(scheduleColumn(played).cells).toEqual(new Map([['all', '0']]))
  })

  it('leaves out a store whose server is missing', async () => {
    expect(await play({ name: 'absent', start: async () => null })).toBeNull()
  })

  it('lines its columns up, with a dash for what a store was not asked', () => {
    const table = tableOf('group', [
      { name: 'a', cells: new Map([['one', '1']]) },
      { name: 'longer', cells: new Map([['two', '22']]) },
    ])
    expect(table.split('\n')).toEqual(['group  a  longer', 'one    1  –', 'two    –  22'])
  })
})
