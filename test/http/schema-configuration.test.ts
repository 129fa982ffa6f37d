import { expect, it, onTestFinished } from 'vitest'
import * as z from 'zod/mini'
import { openHost } from '../support/hosts/open-host.js'

it('what a host configures for schemas of its own is given no request of the library', async () => {
  const given: unknown[] = []
  z.config({
    customError(issue) {
      given.push(issue.input)
      return undefined
    },
  })
  onTestFinished(() => {
    z.config({ customError: undefined })
  })
  const host = await openHost()
  const password = 'x'.repeat(5000)
  for (const body of [
    { email: 'ada@example.com', password },
    { password, more: true },
  ]) {
    const reply = await host.send('POST', '/v1/auth/client/login', { body })
    expect([reply.status, reply.code], reply.text).toEqual([400, 'invalid_request'])
  }
  expect(given).toEqual([])
})
