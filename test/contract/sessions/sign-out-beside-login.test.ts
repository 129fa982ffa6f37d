import { decodeJwt } from 'jose'
import { expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { person, signIn } from '../../support/people/people.js'
import { withCall } from '../../support/stores/faulty-backend.js'

/** A place that somebody reaches, and others wait for. */
function place() {
  let reach = (): void => {}
  const reached = new Promise<void>((resolve) => {
    reach = resolve
  })
  return { reach, reached }
}

type Steps = Map<string, () => Promise<unknown>>

/** A store whose calls of a name run `before` first, and `after` before they answer, once these are set. */
function steered() {
  const before: Steps = new Map()
  const after: Steps = new Map()
  const once = (steps: Steps, name: string) => {
    const step = steps.get(name)
    steps.delete(name)
    return step?.()
  }
  const backend = withCall(memory(), async (name, work) => {
    await once(before, name)
    const result = await work()
    await once(after, name)
    return result
  })
  return { backend, before, after }
}

it.each([
  ['as all others are listed', 0],
  ['as a store that takes 200 ms answers the sign-out', 200],
])(
  'a login after a sign-out everywhere goes on, where only its document is there %s',
  async (_when, ms) => {
    const { backend, before, after } = steered()
    const host = await openHost({ backend })
    const who = await person(host, 'client')
    const { bearer } = await signIn(host, 'client', who)
    const [toWriteItsRow, signedOut] = [place(), place()]
    const logins: ReturnType<typeof signIn>[] = []
    const moment = async () => {
      // The epoch was raised, and nothing is listed yet.
      before.set('client_refresh_tokens.insert', async () => {
        toWriteItsRow.reach()
        await signedOut.reached
      })
      logins.push(signIn(host, 'client', who))
      await toWriteItsRow.reached
      await host.clock.advance(ms)
    }
    if (ms === 0) before.set('client_refresh_tokens.find', moment)
    else after.set('client_users.update', moment)
    const body = { everywhere: true }
    const out = await host.send('POST', '/v1/auth/client/logout', { bearer, body })
    expect(out.status).toBe(204)
    signedOut.reach()

    const [bearerOfNewer = ''] = (await Promise.all(logins)).map((newer) => newer.bearer)
    const me = await host.send('GET', '/v1/auth/client/me', { bearer: bearerOfNewer })
    expect(outcomeOf(me)).toBe('200')
    const id = String(decodeJwt(bearerOfNewer)['sid'])
    expect(await storedIn(host, 'client').sessions.get(id)).toMatchObject({ active: true })
  },
)
