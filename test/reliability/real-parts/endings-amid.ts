import { type Host, type Login, outcomeOf } from '../host-client.js'
import { inLanes } from '../stores.js'

/** Sessions whose logout was answered, whose logout was not, and which nobody ended. */
export interface Endings {
  readonly ended: readonly Login[]
  readonly unclear: readonly Login[]
}

/** People who are signed in, each from an address of their own. */
export async function newLogins(host: Host, count: number): Promise<readonly Login[]> {
  const logins: Login[] = []
  await inLanes(count, 8, async (n) => {
    logins.push(await host.newLogin({ from: `10.1.${n >> 8}.${n & 255}` }))
  })
  return logins
}

/** Signs them out one after the other: a third before `crash`, most of the rest while it happens, the last after it. */
export async function signOutAmid(
  host: Host,
  logins: readonly Login[],
  crash: () => Promise<void>,
): Promise<Endings> {
  const ended: Login[] = []
  const unclear: Login[] = []
  let crashing: Promise<void> | null = null
  for (const [at, login] of logins.entries()) {
    if (at === logins.length - 1) await crashing
    const reply = await host.logout(login.accessToken)
    if (reply.status === 204) ended.push(login)
    else unclear.push(login)
    if (ended.length * 3 >= logins.length) crashing ??= crash()
  }
  await crashing
  return { ended, unclear }
}

/** How often each outcome came. */
export async function tally(
  logins: readonly Login[],
  ask: (login: Login) => Promise<Parameters<typeof outcomeOf>[0]>,
): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {}
  await inLanes(logins.length, 8, async (n) => {
    const login = logins[n]
    if (login === undefined) throw new RangeError('there are none')
    const outcome = outcomeOf(await ask(login))
    counts[outcome] = (counts[outcome] ?? 0) + 1
  })
  return counts
}
