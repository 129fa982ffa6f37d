import { describe, expect, it, onTestFinished } from 'vitest'
import { fetchGuards } from '../../../adapters/fetch.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import { memoryHost } from '../../support/hosts/hosts.js'
import { httpClient, type Send } from '../../support/hosts/http-client.js'
import { outcomeOf } from '../../support/hosts/open-host.js'
import { signedInPerson } from '../../support/people/people.js'
import {
  administrator,
  serviceAccount,
  tokenOf,
} from '../../support/people/service-account-steps.js'
import { spyBackend } from '../../support/stores/spy-backend.js'
import { sessionOf } from '../events/event-scenario.js'
import { renderingHosts } from '../sessions/rendering-hosts.js'

describe.each(Object.entries(renderingHosts))('optionalUser on %s', (_name, serve) => {
  it('serves strangers and people, and refuses bad tokens', async () => {
    const spy = spyBackend()
    const host = await memoryHost.start({ backend: spy.backend })
    const running = await serve(host.auth)
    onTestFinished(async () => {
      await running.close()
      await host.close()
    })
    const send = httpClient(running.url)
    const ada = await signedInPerson(host, 'client')
    const operator = await signedInPerson(host, 'operator')
    const ask = (given: Parameters<Send>[2] = {}) => send('GET', '/optional', given)
    const required = (given: Parameters<Send>[2]) => send('GET', '/required', given)

    expect((await ask()).json()).toEqual({ user: null })
    expect((await ask({ bearer: ada.bearer })).json()).toEqual({ user: ada.id })
    // It reads no cookie, and another guard of the route counts as ever.
    expect((await ask({ cookie: ada.cookie })).json()).toEqual({ user: null })
    expect((await required({ bearer: ada.bearer })).json()).toEqual({ user: ada.id })
    for (const given of [{}, { cookie: ada.cookie }]) expectProblem(await required(given), 401)

    for (const authorization of ['Bearer garbage', 'Bearer', 'Basic YTpi', ada.bearer]) {
      expectProblem(await ask({ headers: { authorization } }), 401)
    }
    expectProblem(await ask({ bearer: ada.refreshToken }), 401)
    expectProblem(await ask({ bearer: operator.bearer }), 401, 'audience_mismatch')
    await host.auth.close()
    spy.fail(() => new Error('down'))
    expectProblem(await ask({ bearer: ada.bearer }), 503, 'session_enforcement_unavailable')
    expect(outcomeOf(await ask())).toBe('200')
    spy.fail(null)
    await host.auth.client.terminateSession(sessionOf(ada.refreshToken))
    expectProblem(await ask({ bearer: ada.bearer }), 401, 'session_revoked')
  })
})

describe('optionalUser', () => {
  it('is for people: a machine is neither one nor a stranger', async () => {
    const host = await memoryHost.start({ authorizer: { check: async () => true } })
    onTestFinished(() => host.close())
    const { optionalUser, principalOf, userOf } = fetchGuards(host.auth.operator)
    const guard = optionalUser()
    const bearer = await tokenOf(host, await serviceAccount(host, await administrator(host)))
    const request = new Request('http://localhost/', {
      headers: { authorization: `Bearer ${bearer}` },
    })
    const refusal = await guard(request)
    expect([refusal?.status, await refusal?.json()]).toMatchObject([
      403,
      { code: 'human_principal_required' },
    ])
    expect(() => userOf(request)).toThrow(/no guard ran/)

    const stranger = new Request('http://localhost/')
    expect(() => userOf(stranger)).toThrow(/no guard ran/)
    expect(await guard(stranger)).toBeNull()
    expect(userOf(stranger)).toBeNull()
    expect(() => principalOf(stranger)).toThrow(/ask userOf/)
  })
})
