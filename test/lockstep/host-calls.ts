import { type Agent, liveToken, newest, noFactors, oneOf, type World } from './cast.js'
import { origins } from './rigs.js'

type HostCall = (world: World, agent: Agent) => unknown

const admitted = async (world: World, agent: Agent): Promise<unknown> => {
  const { guards } = world.auth[agent.person.surface]
  const token = liveToken(world, agent) ?? newest(agent, 'accessToken') ?? 'none'
  const header = (name: string) => (name === 'authorization' ? `Bearer ${token}` : undefined)
  const guard = oneOf(world, [
    ...[guards.requireUser(), guards.requirePermission('system.modules.read')],
    ...[guards.optionalUser(), guards.requireStepUp({ maxAge: '1m' })],
  ])
  return guard({ header, remoteAddress: agent.address }, null)
}

/** What a host asks of the library in code. */
export const hostCalls: Readonly<Record<string, HostCall>> = {
  'users.create': async ({ auth, made, draw }, { person }) => {
    const { email, passwords, surface } = person
    const given = { email, password: passwords[0] ?? '', name: `Made ${made}` }
    const user = await auth[surface].users.create({ ...given, emailVerified: draw.chance(0.5) })
    person.id = user.id
    return user
  },
  'users.get': ({ auth }, { person }) => auth[person.surface].users.get(person.id),
  'users.findByEmail': ({ auth }, { person: { surface, email } }) =>
    auth[surface].users.findByEmail(email),
  'users.list': ({ auth, draw }, { person }) =>
    auth[person.surface].users.list({ kind: draw.pick(['', 'service']), limit: 3 }),
  'users.update': ({ auth, draw }, { person: { surface, id } }) => {
    const memberships = draw.chance(0.5) ? [{ tenantId: 'acme' }] : []
    return auth[surface].users.update(id, { enabled: draw.chance(0.8), memberships })
  },
  'users.export': async ({ auth }, { person }) => {
    const all = await auth[person.surface].users.export(person.id)
    // Rows come in the order of ids that are digests.
    return Object.entries(all?.collections ?? {}).map(([name, rows]) => [name, rows.length])
  },
  'users.passwordLink': async ({ auth, links }, { person: { surface, email: to, id } }) => {
    const link = await auth[surface].users.passwordLink(id)
    if (link !== null) links.push({ surface, template: 'resetPassword', to, token: link.token })
    return link
  },
  'users.resetMfa': ({ auth, draw }, { person }) =>
    draw.chance(0.2) ? auth[person.surface].users.resetMfa(person.id) : null,
  'users.import': ({ auth, made }, { person }) => {
    const row = { email: `imported-${made % 5}@example.org`, emailVerified: true, systemRole: 'x' }
    const users = [row, { email: person.email }, { email: 'nobody' }]
    return auth[person.surface].users.import({ users, allowRoles: ['x'] })
  },
  'users.delete': ({ auth, draw }, { person }) => {
    if (draw.chance(0.85)) return null
    const { id } = person
    Object.assign(person, { id: '', ...noFactors })
    return auth[person.surface].users.delete(id)
  },
  registrations: async ({ auth, draw }, { person }) => {
    const { registrations } = auth[person.surface]
    const page = await registrations.list({ limit: 3 })
    const id = page.registrations[0]?.id ?? 'none'
    return [
      page,
      draw.chance(0.5) ? await registrations.resend(id) : await registrations.remove(id),
    ]
  },
  identities: async ({ auth, draw }, { person: { surface, id } }) => {
    const { identities } = auth[surface]
    const list = await identities.list(id)
    if (draw.chance(0.3)) await identities.remove(id, list[0]?.id ?? 'none')
    return list
  },
  sessions: async ({ auth, draw }, { person }) => {
    const surface = auth[person.surface]
    // The older build has another name for it.
    const listOf = surface.sessions?.list ?? Object(surface)['listSessions']
    const list = await listOf(person.id)
    return [list, draw.chance(0.2) && (await surface.terminateSession(list.at(-1)?.id ?? 'none'))]
  },
  audit: ({ auth }, { person }) => auth[person.surface].audit.ofTarget(person.id, { limit: 5 }),
  roles: async ({ auth, draw }, { person }) => {
    const { roles } = auth[person.surface]
    const permissions = ['orders.read', 'system.modules.read'].slice(draw.below(2))
    const role = await roles.define({ name: draw.pick(['clerk', 'administrator']), permissions })
    const given = { userId: person.id, roleId: role.id }
    return [role, await (draw.chance(0.7) ? roles.bind(given) : roles.unbind(given))]
  },
  serviceAccounts: async ({ auth, machines, draw }) => {
    const made = await auth.operator.serviceAccounts.create({ name: draw.pick(['mill', 'shop']) })
    if (!made.created) return made
    const { clientSecret, ...credential } = made.credential
    machines.push({ id: made.account.id, ...credential, clientSecret: clientSecret.reveal() })
    return made
  },
  config: async ({ auth, draw }) => {
    const config = { sender: `host ${draw.below(4)}` }
    return [await auth.config.change('shop', { config }), await auth.config.view('auth')]
  },
  guards: admitted,
  sessionOf: ({ auth, draw }, { person: { surface }, jar }) => {
    const origin = origins[surface]
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const method = draw.pick(['GET', 'POST'])
    const head = { method, headers: { cookie, origin, host: new URL(origin).host } }
    return method === 'GET'
      ? auth[surface].sessionOf(head, { use: 'page' })
      : auth[surface].sessionOf(head, { use: 'action', mint: true })
  },
  terminateAllSessions: ({ auth, draw }) =>
    draw.chance(0.1)
      ? auth.terminateAllSessions({ surfaces: [draw.pick(['operator', 'client'])] })
      : null,
}
