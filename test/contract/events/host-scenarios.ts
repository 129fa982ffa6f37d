import { AuthError } from '../../../src/errors/index.js'
import { storedIn } from '../../support/hosts/open-host.js'
import { person, signedInPerson } from '../../support/people/people.js'
import {
  pass,
  type Scenario,
  type Scene,
  type Subject,
  sessionOf,
  signedIn,
  told,
} from './event-scenario.js'

const email = 'ada@example.org'
const admin = { actorId: 'ops-7', ip: '192.0.2.7', userAgent: 'back office' } as const

const hostFunctions: readonly Scenario[] = [
  {
    of: 'sessionOf',
    name: 'of a session over its cap, which a refresh ends',
    outcome: 'null',
    options: { settings: { sessionAbsoluteTTL: '1h' } },
    tells: ({ id, sessionId }) => [
      told('session.overdue', null, { userId: id, sessionId, reason: 'max_age' }),
    ],
    prepare: async (scene) => {
      const { host, surface } = scene
      const subject = await signedIn(scene)
      await pass(host, 3_600_001)
      const request = { method: 'GET', headers: { cookie: subject.cookie } }
      const ask = () => host.auth[surface].sessionOf(request, { use: 'page' })
      return { subject, perform: async () => String(await ask()) }
    },
  },
  {
    of: 'users.create',
    name: 'on behalf of an operator',
    outcome: 'made',
    tells: ({ id }) => [told('account.created', 'success', { ...admin, targetId: id })],
    prepare: async ({ host, surface }) => {
      const subject = { id: '' }
      return {
        subject,
        async perform() {
          subject.id = (await host.auth[surface].users.create({ email }, admin)).id
          return 'made'
        },
      }
    },
  },
  {
    of: 'users.create',
    name: 'of an address that is taken',
    outcome: 'email_taken',
    tells: () => [
      told('account.createFailed', 'failure', { actorId: null, reason: 'email_taken' }),
    ],
    prepare: async ({ host, surface }) => {
      await host.auth[surface].users.create({ email })
      return { perform: () => codeOf(host.auth[surface].users.create({ email })) }
    },
  },
  {
    of: 'users.import',
    name: 'once for the whole batch',
    outcome: 'done',
    tells: () => [
      told('account.imported', 'success', {
        ...admin,
        created: 2,
        skipped: 0,
        conflicts: 1,
        refused: 1,
      }),
    ],
    prepare: async ({ host, surface }) => {
      const users = [
        { email: 'one@example.org' },
        { email: 'ONE@example.org' },
        { email: 'two@example.org', emailVerified: true },
        { email: 'no address' },
      ]
      return { perform: () => codeOf(host.auth[surface].users.import({ users }, admin)) }
    },
  },
  {
    of: 'users.import',
    name: 'that is no batch',
    outcome: 'invalid_request',
    tells: () => [
      told('account.importFailed', 'failure', { actorId: null, reason: 'invalid_request' }),
    ],
    prepare: async ({ host, surface }) => ({
      perform: () => codeOf(Reflect.apply(host.auth[surface].users.import, null, [{ users: 5 }])),
    }),
  },
  {
    of: 'users.update',
    name: 'with what was before and after, and every session ended',
    outcome: 'done',
    tells: ({ id, sessionId }) => [
      told('account.updated', 'success', {
        ...admin,
        targetId: id,
        fields: ['name', 'enabled', 'systemRole', 'memberships'],
        before: { enabled: true, systemRole: 'guest', memberships: [] },
        after: { enabled: false, systemRole: 'editor', memberships: [{ tenantId: 't1' }] },
      }),
      told('session.terminated', 'success', { ...admin, userId: id, sessionId, reason: 'admin' }),
    ],
    prepare: async ({ host, surface }) => {
      const who = await signedInPerson(host, surface)
      const changes = {
        name: 'Grace',
        enabled: false,
        systemRole: 'editor',
        memberships: [{ tenantId: 't1' }],
      }
      return {
        subject: { id: who.id, sessionId: sessionOf(who.refreshToken) },
        perform: () => codeOf(host.auth[surface].users.update(who.id, changes, admin)),
      }
    },
  },
  {
    of: 'users.update',
    name: 'of nobody',
    outcome: 'done',
    tells: () => [
      told('account.updateFailed', 'failure', { targetId: 'nobody', reason: 'not_found' }),
    ],
    prepare: async ({ host, surface }) => ({
      perform: () => codeOf(host.auth[surface].users.update('nobody', { enabled: false })),
    }),
  },
  {
    of: 'users.update',
    name: 'by a change that is none',
    outcome: 'invalid_request',
    tells: ({ id }) => [
      told('account.updateFailed', 'failure', {
        ...admin,
        targetId: id,
        reason: 'invalid_request',
      }),
    ],
    prepare: async ({ host, surface }) => {
      const who = await person(host, surface)
      const changes = { name: 'half \ud800' }
      return {
        subject: who,
        perform: () => codeOf(host.auth[surface].users.update(who.id, changes, admin)),
      }
    },
  },
  {
    of: 'users.delete',
    name: 'on behalf of an operator, and every session ended',
    outcome: 'done',
    tells: ({ id, sessionId }) => [
      told('session.terminated', 'success', { ...admin, userId: id, sessionId, reason: 'admin' }),
      told('account.deleted', 'success', { ...admin, targetId: id }),
    ],
    prepare: async ({ host, surface }) => {
      const who = await signedInPerson(host, surface)
      return {
        subject: { id: who.id, sessionId: sessionOf(who.refreshToken) },
        perform: () => codeOf(host.auth[surface].users.delete(who.id, admin)),
      }
    },
  },
  {
    of: 'users.delete',
    name: 'of nobody',
    outcome: 'done',
    tells: () => [
      told('account.deleteFailed', 'failure', { targetId: 'nobody', reason: 'not_found' }),
    ],
    prepare: async ({ host, surface }) => ({
      perform: () => codeOf(host.auth[surface].users.delete('nobody')),
    }),
  },
]

/** Ending one session or all, while its row is there and after that was swept. */
const endings = [false, true].flatMap((swept): readonly Scenario[] => {
  const name = swept ? 'when the row was swept' : 'on behalf of an operator'
  const twice = 'twice at once, told once,'
  const ended = (id: string, sessionId: string) =>
    told('session.terminated', 'success', { ...admin, userId: id, sessionId, reason: 'admin' })
  async function subjectIn({ host, surface }: Scene): Promise<Subject> {
    const { id, refreshToken } = await signedInPerson(host, surface)
    const sessionId = sessionOf(refreshToken)
    if (swept) {
      // No row is swept in the minute of its login.
      await storedIn(host, surface).sessions.update(
        sessionId,
        { active: true },
        { loginAt: host.clock.now() - 120_000 },
      )
      await storedIn(host, surface).families.take(sessionId)
    }
    return { id, sessionId }
  }
  return [
    {
      of: 'terminateSession',
      name: `${twice} ${name}`,
      outcome: 'done',
      tells: ({ id, sessionId }) => [ended(id, sessionId)],
      prepare: async (scene) => {
        const subject = await subjectIn(scene)
        const { terminateSession } = scene.host.auth[scene.surface]
        const end = () => codeOf(terminateSession(subject.sessionId, admin))
        return { subject, perform: async () => (await Promise.all([end(), end()]))[0] }
      },
    },
    {
      of: 'terminateSessionsOf',
      name,
      outcome: 'done',
      tells: ({ id, sessionId }) => [
        told('session.allTerminated', 'success', { ...admin, targetId: id }),
        ended(id, sessionId),
      ],
      prepare: async (scene) => {
        const subject = await subjectIn(scene)
        const { terminateSessionsOf } = scene.host.auth[scene.surface]
        return { subject, perform: () => codeOf(terminateSessionsOf(subject.id, admin)) }
      },
    },
  ]
})

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
    return 'done'
  } catch (error) {
    return error instanceof AuthError ? error.code : String(error)
  }
}

/** What the host's own code does to accounts and their sessions. */
export const hostScenarios: readonly Scenario[] = [...hostFunctions, ...endings]
