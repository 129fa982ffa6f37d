import * as z from 'zod/mini'
import * as emailChange from '../domain/accounts/profile.js'
import * as profile from '../domain/accounts/profile.js'
import { deleteOwnAccount, listLinkedIdentities, renameUser } from '../domain/accounts/profile.js'
import { endOwnSession, listOwnSessions } from '../domain/sessions/own-sessions.js'
import { guardedOperation } from './operation.js'
import {
  accepted,
  emailInput,
  nameInput,
  noBody,
  nothing,
  passwordInput,
  publicUser,
  timestamp,
} from './schemas.js'
import { meView, sessionListView } from './views.js'

const both = ['operator', 'client'] as const
const operator = ['operator'] as const
const tag = 'Self-Service'
const self = [{ kind: 'bearer' }, { kind: 'permission', key: 'auth.self' }] as const

export const me = z.extend(publicUser, {
  kind: z.string(),
  createdAt: timestamp,
  hasPassword: z.boolean(),
  identities: z.array(z.strictObject({ provider: z.string(), linkedAt: timestamp })),
  memberships: z.array(z.strictObject({ tenantId: z.string() })),
})

const getMe = guardedOperation({
  id: 'getMe',
  method: 'GET',
  path: '/v1/auth/{surface}/me',
  surfaces: both,
  tag,
  summary: 'Your own account',
  guards: self,
  limit: 'self',
  status: 200,
  body: noBody,
  bodyOptional: true,
  reply: me,
  errors: [],
  readAhead: (userId, ctx) => listLinkedIdentities(ctx, userId),
  handle: async ({ user, readAhead }) => ({ body: meView(user, await readAhead()) }),
})

const updateMe = guardedOperation({
  id: 'updateMe',
  method: 'PATCH',
  path: '/v1/auth/{surface}/me',
  surfaces: both,
  tag,
  summary: 'Change your name',
  guards: self,
  limit: 'self',
  status: 200,
  body: z.strictObject({ name: nameInput }),
  reply: me,
  errors: [],
  handle: async ({ body, source, ...who }, ctx) => {
    const renamed = await renameUser(ctx, who, body.name, source)
    return { body: meView(renamed, await listLinkedIdentities(ctx, renamed.id)) }
  },
})

const changePassword = guardedOperation({
  id: 'changePassword',
  method: 'POST',
  path: '/v1/auth/{surface}/me/password',
  surfaces: both,
  tag,
  summary: 'Change your password; ends your other sessions unless the settings say otherwise',
  guards: self,
  limit: 'change',
  status: 204,
  body: z.strictObject({ currentPassword: passwordInput, newPassword: passwordInput }),
  reply: nothing,
  errors: ['invalid_credentials', 'password_policy', 'server_busy'],
  handle: async (call, ctx) => {
    await profile.changePassword(ctx, call, call.body, call.source)
    return { body: null }
  },
})

const requestEmailChange = guardedOperation({
  id: 'requestEmailChange',
  method: 'POST',
  path: '/v1/auth/{surface}/me/email',
  surfaces: both,
  tag,
  summary: 'Mail a link to another address, which becomes yours once it is confirmed',
  guards: self,
  limit: 'change',
  status: 202,
  body: z.strictObject({ newEmail: emailInput, currentPassword: z.optional(passwordInput) }),
  reply: accepted,
  errors: [
    'step_up_required',
    'invalid_credentials',
    'email_not_allowed',
    'email_domain_not_allowed',
    'server_busy',
  ],
  handle: async (call, ctx) => {
    const { newEmail, currentPassword } = call.body
    const languages = call.languages()
    await emailChange.requestEmailChange(
      ctx,
      call,
      { newEmail, currentPassword, languages },
      call.source,
    )
    return { body: { status: 'accepted' as const } }
  },
})

const deleteMe = guardedOperation({
  id: 'deleteMe',
  method: 'DELETE',
  path: '/v1/auth/{surface}/me',
  surfaces: both,
  tag,
  summary: 'Delete your account with everything kept of it; ends every session',
  guards: self,
  limit: 'change',
  status: 204,
  body: z.strictObject({ currentPassword: z.optional(passwordInput) }),
  bodyOptional: true,
  reply: nothing,
  cookies: { sets: ['device'] },
  errors: ['account_deletion_disabled', 'step_up_required', 'invalid_credentials', 'server_busy'],
  handle: async (call, ctx) => {
    await deleteOwnAccount(ctx, call, call.body.currentPassword, call.source)
    return { body: null, deviceCookie: 'clear' as const }
  },
})

const listSessions = guardedOperation({
  id: 'listSessions',
  method: 'GET',
  path: '/v1/auth/{surface}/sessions',
  surfaces: operator,
  tag,
  summary: 'Your sessions of the last 90 days, newest first',
  guards: self,
  limit: 'self',
  status: 200,
  body: noBody,
  bodyOptional: true,
  reply: z.strictObject({
    items: z.array(
      z.strictObject({
        id: z.string(),
        loginAt: timestamp,
        expiresAt: timestamp,
        active: z.boolean(),
        ip: z.nullable(z.string()),
        userAgent: z.nullable(z.string()),
        current: z.boolean(),
      }),
    ),
  }),
  errors: [],
  handle: async (call, ctx) => ({
    body: sessionListView(await listOwnSessions(ctx, call)),
  }),
})

const terminateSession = guardedOperation({
  id: 'terminateSession',
  method: 'DELETE',
  path: '/v1/auth/{surface}/sessions/{sessionId}',
  surfaces: operator,
  tag,
  summary: 'End one of your sessions',
  guards: self,
  limit: 'ending',
  status: 204,
  body: noBody,
  bodyOptional: true,
  reply: nothing,
  errors: ['session_not_found'],
  handle: async (call, ctx) => {
    const { sessionId = '' } = call.params
    await endOwnSession(ctx, call, sessionId, call.source)
    return { body: null }
  },
})

export const selfServiceOperations = [
  getMe,
  updateMe,
  changePassword,
  requestEmailChange,
  deleteMe,
  listSessions,
  terminateSession,
]
