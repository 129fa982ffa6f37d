import { z } from 'zod'
import { guardedOperation } from './operation.js'
import { nameInput, noBody, nothing, passwordInput, publicUser, timestamp } from './schemas.js'
import { meView, passwordChanged } from './views.js'

const both = ['operator', 'client'] as const
const tag = 'Self-Service'
const self = [{ kind: 'bearer' }, { kind: 'permission', key: 'auth.self' }] as const

export const me = publicUser.extend({
  kind: z.string(),
  createdAt: timestamp,
  hasPassword: z.boolean(),
  identities: z.array(z.strictObject({ provider: z.string(), linkedAt: timestamp })),
  memberships: z.array(z.strictObject({ tenantId: z.string() })),
})

export const getMe = guardedOperation({
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
  handle: async ({ user }, { profile }) => ({
    body: meView(user, await profile.identitiesOf(user)),
  }),
})

export const updateMe = guardedOperation({
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
  handle: async ({ body, user, occasion }, { profile }) => {
    const renamed = await profile.rename(user, body.name, occasion)
    return { body: meView(renamed, await profile.identitiesOf(renamed)) }
  },
})

export const changePassword = guardedOperation({
  id: 'changePassword',
  method: 'POST',
  path: '/v1/auth/{surface}/me/password',
  surfaces: both,
  tag,
  summary: 'Change your password; ends your other sessions unless the settings say otherwise',
  guards: self,
  limit: 'recovery',
  status: 204,
  body: z.strictObject({ currentPassword: passwordInput, newPassword: passwordInput }),
  reply: nothing,
  cookies: { sets: ['refresh'] },
  errors: ['invalid_credentials', 'password_policy', 'server_busy'],
  handle: async (call, { profile }) =>
    passwordChanged(await profile.changePassword(call, call.body, call.occasion)),
})
