import * as z from 'zod/mini'
import * as deviceTrust from '../domain/factors/trusted-devices.js'
import { revokeTrustedDevices, trustThisDevice } from '../domain/factors/trusted-devices.js'
import { guardedOperation } from './operation.js'
import { nameInput, noBody, nothing, timestamp } from './schemas.js'
import { deviceListView, trustedDevice } from './views.js'

const both = ['operator', 'client'] as const
const tag = 'Auth - Device Trust'
const self = [{ kind: 'bearer' }, { kind: 'permission', key: 'auth.self' }] as const
const selfWithProof = [...self, { kind: 'stepUp' }] as const

const device = { deviceId: z.string(), name: z.string(), expiresAt: timestamp }

const trustDevice = guardedOperation({
  id: 'trustDevice',
  method: 'POST',
  path: '/v1/auth/{surface}/devices',
  surfaces: both,
  tag,
  summary:
    'Let this device skip the second factor; its token comes as a cookie, or with the header x-token-delivery: body in the body',
  guards: selfWithProof,
  // Its owner gets a mail about each.
  limit: 'mfa',
  status: 201,
  body: z.strictObject({ name: z.optional(nameInput) }),
  bodyOptional: true,
  reply: z.strictObject({ ...device, deviceToken: z.optional(z.string()) }),
  cookies: { sets: ['device'] },
  choosesDelivery: true,
  errors: ['step_up_required', 'mfa_method_disabled', 'email_not_verified'],
  handle: async (call, ctx) => {
    const grant = await trustThisDevice(ctx, call, call.body.name ?? '', call.source)
    return trustedDevice(grant, call.tokenDelivery)
  },
})

const listTrustedDevices = guardedOperation({
  id: 'listTrustedDevices',
  method: 'GET',
  path: '/v1/auth/{surface}/devices',
  surfaces: both,
  tag,
  summary: 'The devices that skip your second factor, newest first',
  guards: self,
  limit: 'self',
  status: 200,
  body: noBody,
  bodyOptional: true,
  reply: z.strictObject({
    items: z.array(
      z.strictObject({
        ...device,
        createdAt: timestamp,
        lastUsedAt: z.nullable(timestamp),
        current: z.boolean(),
      }),
    ),
  }),
  cookies: { reads: ['device'] },
  errors: [],
  handle: async (call, ctx) => ({
    body: deviceListView(await deviceTrust.listTrustedDevices(ctx, call, call.deviceCookie)),
  }),
})

const revokeTrustedDevice = guardedOperation({
  id: 'revokeTrustedDevice',
  method: 'DELETE',
  path: '/v1/auth/{surface}/devices/{deviceId}',
  surfaces: both,
  tag,
  summary: 'Trust a device no more; its next login asks for the second factor',
  guards: self,
  limit: 'ending',
  status: 204,
  body: noBody,
  bodyOptional: true,
  reply: nothing,
  cookies: { reads: ['device'], sets: ['device'] },
  errors: ['device_not_found'],
  handle: async (call, ctx) => {
    const { params, deviceCookie, source } = call
    const id = params['deviceId'] ?? ''
    const wasOwn = await revokeTrustedDevices(ctx, call, id, deviceCookie, source)
    return wasOwn ? { body: null, deviceCookie: 'clear' as const } : { body: null }
  },
})

export const deviceOperations = [trustDevice, listTrustedDevices, revokeTrustedDevice]
