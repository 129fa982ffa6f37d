import { expect, test } from 'vitest'
import { guardedValues } from '../../../src/engine/configuration/module-values.js'

const refuse = (key: string): never => {
  throw new Error(`refused ${key}`)
}
const values = {
  token: '*',
  name: 'a',
  hooks: [
    { slug: 'x', secret: '*' },
    { slug: 'y', secret: 's' },
  ],
}

test('a secret that does not decrypt throws when it is read, and nothing else does', () => {
  const guarded = guardedValues(
    values,
    ['token', 'hooks.x.secret', 'hooks.x.other', 'gone'],
    refuse,
  )
  const [x, y] = guarded.hooks
  expect(() => guarded.token).toThrow('refused token')
  expect(() => x?.secret).toThrow('refused hooks.x.secret')
  expect([guarded.name, x?.slug, y]).toEqual(['a', 'x', { slug: 'y', secret: 's' }])
  expect([Object.keys(guarded), Object.keys(x ?? {})]).toEqual([
    ['token', 'name', 'hooks'],
    ['slug', 'secret'],
  ])
})

test('values, lists and their elements are frozen, and those given are not touched', () => {
  const guarded = guardedValues(values, ['token', 'hooks.x.secret'], refuse)
  const all = [guarded, guarded.hooks, ...guarded.hooks]
  expect(all.map((one) => Object.isFrozen(one))).toEqual([true, true, true, true])
  expect([values.token, values.hooks[0]?.secret, Object.isFrozen(values.hooks)]).toEqual([
    '*',
    '*',
    false,
  ])
})
