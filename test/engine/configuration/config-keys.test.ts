import { describe, expect, it } from 'vitest'
import {
  type FieldDeclaration,
  FieldRecordList,
  FieldString,
  maxElements,
} from '../../../src/engine/configuration/config-declaration.js'
import {
  elementPrefix,
  fieldsByKey,
  keyLocator,
  readRoster,
  rosterKey,
  storedText,
} from '../../../src/engine/configuration/config-keys.js'
import { judgeFirstValues } from '../../../src/engine/configuration/module-values.js'

const host: FieldDeclaration = { key: 'host', label: 'Host', type: FieldString, group: 'Mail' }
const url = { key: 'url', label: 'URL', type: FieldString } as const
const hooks: FieldDeclaration = {
  ...{ key: 'hooks', label: 'Hooks', type: FieldRecordList, group: 'Hooks' },
  items: [url],
}
const locate = () => keyLocator(fieldsByKey([host, hooks]))

describe('the keys of stored values', () => {
  it('are made of field, slug and sub-field', () => {
    expect([rosterKey('hooks'), elementPrefix('hooks', 'a')]).toEqual(['hooks.__items', 'hooks.a.'])
  })

  it('are found by the declarations', () => {
    const element = { kind: 'element', field: hooks }
    expect(locate()('host')).toEqual({ kind: 'field', field: host })
    expect(locate()('hooks.__items')).toEqual({ kind: 'roster', field: hooks })
    expect(locate()('hooks.a.url')).toEqual({ ...element, slug: 'a', item: url })
    expect(locate()('hooks.a-1.__label')).toEqual({ ...element, slug: 'a-1', item: null })
  })

  it.each([
    ...['', 'unknown', 'unknown.a.url', 'hooks', 'host.a.url', 'host.__items', 'hooks.'],
    ...['hooks.a', 'hooks.a.', 'hooks.a.other', 'hooks.A.url', 'hooks..url', 'hooks.a.url.more'],
    ...['hooks.__items.url', '.a.url'],
  ])('%j is none', (key) => {
    expect(locate()(key)).toBeNull()
  })

  it('are found one after the other, of one element and of the next', () => {
    const find = locate()
    const found = ['hooks.a.url', 'hooks.a.nothing', 'hooks.a.__label', 'hooks.ab.url', 'host']
    expect(found.map((key) => find(key)).map((one) => one && [one.kind, Object(one).slug])).toEqual(
      [['element', 'a'], null, ['element', 'a'], ['element', 'ab'], ['field', undefined]],
    )
  })

  it('hold texts alone, whatever an object is born with', () => {
    const odd: Record<string, string> = { host: 'mail', count: 7 as unknown as string }
    const keys = ['host', 'count', 'toString', 'none']
    expect(keys.map((key) => storedText(odd, key))).toEqual(['mail', '', '', ''])
  })

  it('name the elements once each, in order', () => {
    const roster = (text: string) => readRoster('hooks', { 'hooks.__items': text })
    expect(roster('b,a')).toEqual(['b', 'a'])
    expect(roster('b,,a,b,')).toEqual(['b', 'a'])
    expect([roster(''), readRoster('hooks', {})]).toEqual([[], []])
  })
})

it('a record list has fifty elements at most, or fewer', () => {
  const all = [undefined, {}, { max: 0 }, { max: 1 }, { max: 50 }, { max: 51 }]
  expect(all.map(maxElements)).toEqual([50, 50, 50, 1, 50, 50])
})

describe('first values', () => {
  const seen: string[] = []
  const rule = ({ key }: FieldDeclaration, text: string) => {
    seen.push(`${key}=${text}`)
    return text === 'bad' ? { problem: 'is bad' } : null
  }

  it('are judged by field, and those that a field cannot hold are left out', () => {
    const texts = { host: 'bad', other: 'kept', 'hooks.__items': 'a', hooks: 'bad' }
    expect(judgeFirstValues(texts, [host, hooks], rule as never)).toEqual({
      usable: { other: 'kept', 'hooks.__items': 'a', hooks: 'bad' },
      refused: [{ field: host, problem: 'is bad' }],
    })
    expect(seen.splice(0)).toEqual(['host=bad', 'hooks='])
    expect(judgeFirstValues({}, [host], rule as never)).toEqual({ usable: {}, refused: [] })
    expect(seen).toEqual(['host='])
  })
})
