import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { flagOf, textOf, timeOf } from '../../../../src/cli/import/rows/read-cell.js'

const noon = Date.UTC(2024, 1, 29, 12)

describe('a cell', () => {
  it.each([
    ['a Date', new Date(noon)],
    ['seconds', noon / 1000],
    ['seconds with a fraction, as text', `${noon / 1000}.25`],
    ['milliseconds', noon],
    ['milliseconds as text', String(noon)],
    ['ISO 8601', '2024-02-29T12:00:00.000Z'],
    ['without seconds', '2024-02-29T12:00Z'],
    ['a text of Postgres', '2024-02-29 12:00:00'],
    ['a text of Postgres, with microseconds', '2024-02-29 12:00:00.000999+00'],
    ['another zone', '2024-02-29 07:00:00-05:00'],
    ['another zone without colon', '2024-02-29 17:30:00+0530'],
    ['UTC by its name', '2024-02-29 12:00:00 UTC'],
  ])('is a time: %s', (_, cell) => {
    expect(Math.floor((timeOf(cell) ?? 0) / 1000)).toBe(noon / 1000)
  })

  it('is a time in every way that one is written', () => {
    const times = fc.date({
      min: new Date('1973-03-04'),
      max: new Date('2100-01-01'),
      noInvalidDate: true,
    })
    fc.assert(
      fc.property(times, (time) => {
        expect(timeOf(time)).toBe(time.getTime())
        expect(timeOf(time.toISOString())).toBe(time.getTime())
        expect(timeOf(time.getTime())).toBe(time.getTime())
        expect(timeOf(time.toISOString().replace('T', ' ').replace('Z', '+00:00'))).toBe(
          time.getTime(),
        )
      }),
    )
  })

  it('is no time where it is another text, and none where it is empty', () => {
    for (const cell of [
      'yesterday',
      '29.02.2024',
      '2024-02-30T12:00:00Z',
      '2024-13-01',
      '-1',
      '1e9',
      {},
      true,
    ]) {
      expect([cell, timeOf(cell)]).toEqual([cell, Number.NaN])
    }
    expect(['', null, undefined, ' '].map(timeOf)).toEqual([null, null, null, null])
    expect(
      [0, '0', ' 0.0', new Date(0), '1970-01-01', '1970-01-01 01:00:00+01'].map(timeOf),
    ).toEqual(Array.from({ length: 6 }, () => null))
    const zeros = ['0000-00-00', '0000-00-00 00:00:00', '0001-01-01 00:00:00+00']
    expect([...zeros, new Date('0001-01-01T00:00:00Z')].map(timeOf)).toEqual(
      Array.from({ length: 4 }, () => null),
    )
    expect(timeOf('2024-02-29')).toBe(Date.UTC(2024, 1, 29))
  })

  it('is yes, no, empty or neither', () => {
    expect(
      [true, 1, '1', 't', 'TRUE', ' yes', 'Y', new Date(), Uint8Array.of(1)].map(flagOf),
    ).toEqual(Array.from({ length: 9 }, () => true))
    expect(
      [false, 0, '0', 'f', 'False', 'no', 'N', Uint8Array.of(0), new Date(0)].map(flagOf),
    ).toEqual(Array.from({ length: 9 }, () => false))
    expect(['', null, undefined].map(flagOf)).toEqual([null, null, null])
    expect(['2024-02-29', 'maybe', 2].map(flagOf)).toEqual([undefined, undefined, undefined])
    const first = Date.parse('0001-01-01T00:00:00Z')
    expect([3_600_000, -3_600_000, first, Number.NaN].map((at) => flagOf(new Date(at)))).toEqual([
      ...[false, false, false, undefined],
    ])
  })

  it('is a text, whatever a driver made of it', () => {
    expect(['a', 7, 7n, true, null, '', new TextEncoder().encode('é')].map(textOf)).toEqual([
      ...['a', '7', '7', 'true', null, null, 'é'],
    ])
  })
})
