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
])('G-40 O-57 a body that is %s gets a short answer', async (_what, body) => {
  const host = await configHost()
  const reply = await host.patch(body)
  expectProblem(reply, 400, 'invalid_request')
  expect(reply.text.length).toBeLessThan(1000)
})
