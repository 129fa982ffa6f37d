import { ask } from './replica.js'
import { newPassword, type Owner, replicaAt, type World } from './world.js'

const minute = 60_000

/** The owners who cannot sign in, change the password and sign out, ten minutes after everything works again. */
export async function stuckOwners(world: World): Promise<readonly string[]> {
  world.scheduler.drop(() => true)
  await world.clock.advance(10 * minute)
  const stuck: string[] = []
  for (const owner of world.owners) {
    await replicaAt(world, 0).auth.client.users.update(owner.id, { enabled: true })
    if (!(await livesOn(world, owner))) stuck.push(owner.name)
  }
  return stuck
}

/** By the mailbox, which an owner has who no longer knows the password. */
async function livesOn(world: World, owner: Owner): Promise<boolean> {
  const { auth } = replicaAt(world, 1)
  const body = { email: owner.email }
  const forgot = await ask(auth, { path: '/password/forgot', bearer: '', body })
  await world.scheduler.quiet()
  const link = world.mails.findLast((mail) => mail.owner === owner.name)
  const password = newPassword(world, owner, 'last')
  const reset = await ask(auth, {
    path: '/password/reset',
    bearer: '',
    body: { token: link?.token ?? '', newPassword: password },
  })
  const login = await ask(replicaAt(world, 2).auth, {
    path: '/mobile/login',
    bearer: '',
    body: { email: owner.email, password },
  })
  const {
    accessToken: bearer = '',
    refreshToken,
  }: { accessToken?: string; refreshToken?: string } = JSON.parse(login.body ?? '{}')
  const change = { currentPassword: password, newPassword: newPassword(world, owner, 'lasting') }
  const changed = await ask(auth, { path: '/me/password', bearer, body: change })
  const out = await ask(auth, { path: '/logout', bearer, body: { refreshToken } })
  const statuses = [forgot, reset, login, changed, out].map(({ status }) => status)
  return statuses.join() === '202,204,200,204,204'
}
