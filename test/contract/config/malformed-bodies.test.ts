import { expect, it } from 'vitest'
import { expectProblem } from '../../support/hosts/expectations.js'
import { configHost } from './config-host.js'

const manyWrong = {
  recordLists: [{ field: 'hooks', create: Array.from({ length: 20_000 }, () => 0) }],
}
const longKey = { config: { [`"${'k'.repeat(60_000)}`]: 0 } }
const manyKeys = {
  config: Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`k${at}`, 0])),
}

it.each([
  ['wrong in 20,000 places', manyWrong],
  ['wrong at a key of 60,000 characters', longKey],
  ['wrong at 5,000 keys', manyKeys],
  ['null where texts belong', { config: null }],
])('a body that is %s gets a short answer', async (_what, body) => {
  const host = await configHost()
  const reply = await host.patch(body)
  expectProblem(reply, 400, 'invalid_request')
  expect(reply.text.length).toBeLessThan(1000)
})

it('an unknown key of 60,000 characters is named by its beginning', async () => {
  const host = await configHost()
  const key = 'k'.repeat(60_000)
  const reply = await host.patch({ config: { [key]: 'x' } })
  expectProblem(reply, 422, 'config.unknown_key')
  expect(reply.json()['detail']).toContain(key.slice(0, 30))
  expect(reply.text.length).toBeLessThan(1000)
})

it.each(['', '/environments/production'])(
  'a key named __proto__ is unknown like any other: PATCH %s',
  async (door) => {
    const host = await configHost()
    const members = [
      '"__proto__":"x"',
      '"__proto__":"x","sender":"y"',
      '"__proto__":{"sender":"y"}',
    ]
    for (const member of members) {
      const reply = await host.change('PATCH', door, JSON.parse(`{"config":{${member}}}`))
      expectProblem(reply, 422, 'config.unknown_key', '__proto__')
    }
    expect(await host.raw()).toEqual({ revision: 1, values: {} })
  },
)
