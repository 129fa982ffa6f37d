import { AuthError } from '../../../src/errors/index.js'
import { person } from '../../support/people/people.js'
import { type Scenario, type Scene, told } from './event-scenario.js'

const admin = { actorId: 'ops-7', ip: '192.0.2.7', userAgent: 'back office' } as const
const permissions = ['orders.read']

/** Somebody, and a role of the tenant `acme`. */
async function cast({ host, surface }: Scene) {
  const { roles } = host.auth[surface]
  const { id: userId } = await person(host, surface)
  const role = await roles.define({ name: 'support', permissions, tenantId: 'acme' })
  return { roles, userId, roleId: role.id }
}

async function outcomeOf(work: Promise<unknown>): Promise<string> {
  try {
    return String(await work)
  } catch (error) {
    return error instanceof AuthError ? error.code : String(error)
  }
}

/** What the host's own code does to roles. */
export const roleScenarios: readonly Scenario[] = [
  {
    of: 'roles.define',
    name: 'made',
    outcome: 'made',
    tells: () => [
      told('role.defined', 'success', { ...admin, role: 'support', tenantId: null, permissions }),
    ],
    prepare: async ({ host, surface }) => ({
      async perform() {
        await host.auth[surface].roles.define({ name: 'support', permissions }, admin)
        return 'made'
      },
    }),
  },
  {
    of: 'roles.define',
    name: 'given other permissions, and then the same again',
    outcome: 'changed',
    tells: () => [
      told('role.defined', 'success', { role: 'support', tenantId: 'acme', permissions: ['x'] }),
    ],
    async prepare(scene) {
      const { roles } = await cast(scene)
      const definition = { name: 'support', permissions: ['x'], tenantId: 'acme' }
      return {
        async perform() {
          await roles.define(definition)
          await roles.define(definition)
          return 'changed'
        },
      }
    },
  },
  {
    of: 'roles.delete',
    name: 'deleted, and then once more',
    outcome: 'true false',
    tells: () => [told('role.deleted', 'success', { ...admin, role: 'support', tenantId: 'acme' })],
    async prepare(scene) {
      const { roles, roleId, userId } = await cast(scene)
      await roles.bind({ userId, roleId })
      const drop = () => outcomeOf(roles.delete(roleId, admin))
      return { perform: async () => `${await drop()} ${await drop()}` }
    },
  },
  {
    of: 'roles.bind',
    name: 'bound, and then once more',
    outcome: 'true false',
    tells: ({ id }) => [
      told('role.bound', 'success', { ...admin, targetId: id, tenantId: 'acme' }),
    ],
    async prepare(scene) {
      const { roles, roleId, userId } = await cast(scene)
      const bind = () => outcomeOf(roles.bind({ userId, roleId }, admin))
      return { subject: { id: userId }, perform: async () => `${await bind()} ${await bind()}` }
    },
  },
  {
    of: 'roles.bind',
    name: 'refused',
    outcome: 'not_found',
    tells: ({ id }) => [
      told('role.bindFailed', 'failure', { ...admin, targetId: id, reason: 'not_found' }),
    ],
    async prepare(scene) {
      const { roles, roleId, userId } = await cast(scene)
      await roles.delete(roleId)
      return {
        subject: { id: userId },
        perform: () => outcomeOf(roles.bind({ userId, roleId }, admin)),
      }
    },
  },
  {
    of: 'roles.unbind',
    name: 'taken away, and then once more',
    outcome: 'true false',
    tells: ({ id }) => [
      told('role.unbound', 'success', { ...admin, targetId: id, tenantId: 'acme' }),
    ],
    async prepare(scene) {
      const { roles, roleId, userId } = await cast(scene)
      await roles.bind({ userId, roleId })
      const unbind = () => outcomeOf(roles.unbind({ userId, roleId }, admin))
      return { subject: { id: userId }, perform: async () => `${await unbind()} ${await unbind()}` }
    },
  },
  {
    of: 'roles.unbindAll',
    name: 'one after the other',
    outcome: '2',
    tells: ({ id }) =>
      ['globex', 'acme'].map((tenantId) =>
        told('role.unbound', 'success', { ...admin, targetId: id, tenantId }),
      ),
    async prepare(scene) {
      const { roles, userId } = await cast(scene)
      const { id: roleId } = await roles.define({ name: 'support', permissions })
      for (const tenantId of ['acme', 'globex']) await roles.bind({ userId, roleId, tenantId })
      return {
        subject: { id: userId },
        perform: () => outcomeOf(roles.unbindAll(userId, {}, admin)),
      }
    },
  },
]
