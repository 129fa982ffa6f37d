import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Linked, linkedLine } from '../../src/concurrency/linked-line.js'

interface Item extends Linked<Item> {
  readonly name: number
}

it('a line keeps the order in which items were added, whoever leaves it, also twice', () => {
  const step = fc.record({ name: fc.nat(5), leaves: fc.boolean() })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const items = Array.from(
        { length: 6 },
        (_, name): Item => ({ name, before: null, after: null }),
      )
      const line = linkedLine<Item>()
      let expected: number[] = []
      for (const { name, leaves } of steps) {
        const item = items[name]
        if (item === undefined || (!leaves && expected.includes(name))) continue
        if (leaves) line.remove(item)
        else line.add(item)
        expected = leaves ? expected.filter((other) => other !== name) : [...expected, name]
        expect(line.first()?.name).toBe(expected[0])
      }
      const seen: number[] = []
      for (let item = line.first(); item !== null; item = line.first()) {
        seen.push(item.name)
        line.remove(item)
      }
      expect(seen).toEqual(expected)
    }),
  )
})
