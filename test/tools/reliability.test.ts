import { describe, expect, it } from 'vitest'
import {
  documentOf,
  figuresOf,
  fullFigures,
  type MeasuredFigure,
  missingFigures,
  withOthers,
} from '../../tools/reliability.js'

const line = (id: string, what: string, value: string, form = 'full') =>
  JSON.stringify({ id, what, value, form, how: `figure ${id}: on a store > R-1-18 R-8-02 holds` })

describe('the page on reliability', () => {
  it('takes full measurements only, each the last time it was made, in the order of their numbers', () => {
    const figures = fullFigures(
      [
        line('tabs', 'two tabs', '0'),
        line('R10', 'lease', '1'),
        line('R2', 'b', 'old'),
        line('R2', 'a', '1'),
        line('R2', 'b', 'new'),
        line('R1', 'winner', '9', 'short'),
        '',
      ].join('\n'),
    )
    expect(figures.map(({ id, what, value }) => [id, what, value])).toEqual([
      ['R2', 'a', '1'],
      ['R2', 'b', 'new'],
      ['R10', 'lease', '1'],
      ['tabs', 'two tabs', '0'],
    ])
  })

  it('names what a full run should have measured', () => {
    expect(missingFigures([])).toContain('R32')
    expect(missingFigures(fullFigures(line('R32', 'keys', '0')))).not.toContain('R32')
    const onPostgres = missingFigures(fullFigures(line('R12', 'a Postgres killed', '0')))
    expect(onPostgres).not.toContain('R12')
    expect(onPostgres).toContain('R12 on Redis')
    const onRedis = missingFigures(fullFigures(line('R12', 'a Redis killed', '0')))
    expect(onRedis).not.toContain('R12 on Redis')
  })

  it('writes a row for each figure, with the test that asserts it', () => {
    const table = documentOf(fullFigures(line('R2', 'reads | writes', '0 of 3')))
    expect(table.split('\n')).toContain(
      '| R2 | reads \\| writes | 0 of 3 | on a store: holds | - |',
    )
  })

  it('says of every number where it is shown', () => {
    const told = [...missingFigures([]), documentOf([])].join('\n')
    const numbers = Array.from({ length: 32 }, (_, n) => `R${n + 1}`)
    expect(numbers.filter((id) => !new RegExp(`\\b${id}\\b`).test(told))).toEqual([])
  })

  describe('of some figures alone', () => {
    const at = (commit: string, ...lines: readonly string[]): readonly MeasuredFigure[] =>
      fullFigures(lines.join('\n')).map((figure) => ({ ...figure, commit }))
    const before = figuresOf(
      documentOf(
        at(
          '1111111',
          line('R2', 'reads | writes', '0 of 3'),
          line('R7', 'a', '1'),
          line('R7', 'gone', '1'),
        ),
      ),
    )

    it('reads the rows of a page as they were written', () => {
      expect(before).toMatchObject([
        {
          id: 'R2',
          what: 'reads | writes',
          value: '0 of 3',
          how: 'on a store: holds',
          commit: '1111111',
        },
        { id: 'R7', what: 'a' },
        { id: 'R7', what: 'gone' },
      ])
      expect(figuresOf('| R2 | a | 0 | holds |\n')).toMatchObject([{ id: 'R2', commit: '-' }])
      expect(figuresOf(documentOf(before))).toEqual(before)
      const how = 'figure R11, on a store > every call was struck'
      const struck = JSON.stringify({ id: 'R11', what: 'a', value: '1', form: 'full', how })
      const page = documentOf(at('1111111', struck))
      expect(documentOf(figuresOf(page))).toBe(page)
      expect(() => figuresOf('| R2 | a |\n')).toThrow('this is no row: | R2 | a |')
    })

    it('keeps the rows of the others, with the commit they were measured at, and none that is gone', () => {
      const measured = at('2222222', line('R7', 'a', '2'), line('R2', 'reads | writes', '9'))
      const rows = withOthers(measured, before, ['R7'])
      expect(rows.map(({ id, what, value, commit }) => [id, what, value, commit])).toEqual([
        ['R2', 'reads | writes', '0 of 3', '1111111'],
        ['R7', 'a', '2', '2222222'],
      ])
    })
  })
})
