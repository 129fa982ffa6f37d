import assert from 'node:assert/strict'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { type Flow, outcomeOf, unavailable } from './flow.js'
import type { World } from './world.js'

let addresses = 0

/** An address nobody has. */
export function newEmail(): string {
  addresses += 1
  return `newcomer-${addresses}@example.org`
}

/** The outcome of a login on the web route. */
export async function signsInWith(world: World, email: string, password: string): Promise<string> {
  const reply = await world.send('POST', '/login', { body: { email, password } })
  return outcomeOf(reply).is
}

/** The link is made beside the request, so its reply cannot tell: who gets no mail asks again. */
export async function askAgainWithoutMail(
  world: World,
  email: string,
  mailedBefore: number,
  ask: () => Promise<unknown>,
): Promise<void> {
  await world.host.auth.close()
  const isMailed = () => world.host.mailer.count(email) > mailedBefore
  if (!isMailed()) await ask()
  await world.host.auth.close()
  assert.ok(isMailed(), 'no mail was sent')
}

/** A request for a mail that nobody gets. */
export function asksForNobody(path: string): Flow {
  return {
    name: `${path} for an address nobody has`,
    options: withoutLimits,
    expects: '202',
    unavailable,
    async prepare(world) {
      const body = { email: newEmail() }
      return {
        send: async () => outcomeOf(await world.send('POST', path, { body })),
        async reached() {
          assert.equal(world.host.mailer.count(body.email), 0)
        },
      }
    },
  }
}
