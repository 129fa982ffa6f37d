import { expect, it } from 'vitest'
import { openHost, outcomeOf } from '../../support/hosts/open-host.js'

const login = '/v1/auth/client/login'
const token = '/v1/auth/oauth2/token'

it('what does not have the form that its operation declares reaches no operation', async () => {
  const host = await openHost()
  const outcome = async (path: string, body: unknown, headers = {}) =>
    outcomeOf(await host.send('POST', path, { body, headers }))
  const good = { email: 'ada@example.org', password: 'correct horse battery staple' }
  // What has the form gets to the operation, which refuses it for another reason.
  expect(await outcome(login, good)).toBe('401 invalid_credentials')
  for (const body of ['{"email":', [], {}, { ...good, email: 7 }, { email: good.email }])
    expect([body, await outcome(login, body)]).toEqual([body, '400 invalid_request'])

  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const grant = 'grant_type=client_credentials&client_id=a&client_secret=b'
  expect(await outcome(token, grant, form)).toBe('401 invalid_client')
  // A secret in a query ends up in logs (RFC 6749 §2.3.1).
  expect(await outcome(`${token}?client_secret=b`, grant, form)).toBe('400 invalid_request')
  expect(await outcome(token, 'grant_type=%zz', form)).toBe('400 invalid_request')
  expect(host.logger.lines.filter(({ level }) => level === 'error')).toEqual([])
})
