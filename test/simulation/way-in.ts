import { authModuleName } from '../../src/settings/settings.js'
import { ask } from './replica.js'
import { newPassword, type Owner, replicaAt, type World } from './world.js'

const minute = 60_000

/** The owners who cannot sign in, change the password and sign out, ten minutes after everything works again. */
export async function stuckOwners(world: World): Promise<readonly string[]> {
  world.scheduler.drop(() => true)
  // What a killed request held is given up in time, the turn to edit settings among it.
  await world.clock.advance(9 * minute)
  await openPasswords(world)
  await world.clock.advance(minute)
  const stuck: string[] = []
  for (const owner of world.owners) {
    // Nobody owns the account of a machine or of the shop, and who never came has none.
    if (owner.name === 'mill' || owner.name === 'shop') continue
    // A call of the host's code that fails now leaves its account stuck too.
    const isStuck = await stays(world, owner).catch(() => true)
    if (isStuck) stuck.push(owner.name)
  }
  return stuck
}

/** A policy that shuts everyone out is no fault of the library. */
async function openPasswords(world: World): Promise<void> {
  if (!world.people.some(({ kind }) => kind === 'policyMaker')) return
  const config = { passwordLoginClientEnabled: 'true' }
  await replicaAt(world, 0).auth.config.change(authModuleName, { config })
}

async function stays(world: World, owner: Owner): Promise<boolean> {
  return (await isThere(world, owner)) && !(await livesOn(world, owner))
}

async function isThere(world: World, { email }: Owner): Promise<boolean> {
  const { users } = replicaAt(world, 0).auth.client
  const user = await users.findByEmail(email)
  if (user === null) return false
  await users.update(user.id, { enabled: true })
  return true
}

/** By the mailbox, which an owner has who no longer knows the password, and by a backup code where there is a factor. */
async function livesOn(world: World, owner: Owner): Promise<boolean> {
  const [first, second, third] = [0, 1, 2].map((at) => replicaAt(world, at))
  if (first === undefined || second === undefined || third === undefined) return false
  const forgot = await ask(second, { path: '/password/forgot', body: { email: owner.email } })
  await world.scheduler.quiet()
  const link = world.mails.findLast(({ owner: whose, kind }) => {
    return whose === owner.name && kind === 'reset'
  })
  const password = newPassword(world, owner, 'last')
  const reset = await ask(second, {
    path: '/password/reset',
    body: { token: link?.token ?? '', newPassword: password },
  })
  const begun = await ask(third, { path: '/mobile/login', body: { email: owner.email, password } })
  const { mfaToken }: { mfaToken?: string } = JSON.parse(begun.body ?? '{}')
  const code = owner.authenticator?.backupCodes[0] ?? ''
  // All of them may be used up by now, and the step of the app's code too.
  if (mfaToken !== undefined && code === '') return true
  const shown = { path: '/login/mfa', body: { mfaToken, method: 'backupCode', code } }
  const login = mfaToken === undefined ? begun : await ask(first, shown)
  const {
    accessToken: bearer = '',
    refreshToken,
  }: { accessToken?: string; refreshToken?: string } = JSON.parse(login.body ?? '{}')
  const body = { currentPassword: password, newPassword: newPassword(world, owner, 'lasting') }
  const changed = await ask(second, { path: '/me/password', bearer, body })
  const out = await ask(second, { path: '/logout', bearer, body: { refreshToken } })
  const statuses = [forgot, reset, login, changed, out].map(({ status }) => status)
  return statuses.join() === '202,204,200,204,204'
}
