import * as z from 'zod/mini'
import { activateEnvironment, patchConfig } from '../domain/configuration/config-changes.js'
import {
  listRevisions,
  locateConfig,
  moduleSummaries,
  viewEnvironment,
  viewModule,
} from '../domain/configuration/config-store.js'
import type { ConfigRevision } from '../domain/configuration/config-writer.js'
import { MODULE_CONFIG_PERMISSIONS } from '../model/permissions.js'
import {
  configPatchInput,
  configRevisionReply,
  environmentReply,
  modulePatchInput,
  moduleReply,
  moduleSummaryReply,
} from './config-schemas.js'
import { type AdminCall, adminOperation } from './operation.js'
import { noBody } from './schemas.js'

const operator = ['operator'] as const
const tag = 'Module Configuration'
const reading = [
  { kind: 'principal' },
  { kind: 'permission', key: MODULE_CONFIG_PERMISSIONS.read },
] as const
const managing = [
  { kind: 'principal' },
  { kind: 'permission', key: MODULE_CONFIG_PERMISSIONS.manage },
  { kind: 'stepUp', where: 'adminStepUp' },
] as const

const shared = { surfaces: operator, tag, limit: 'admin', status: 200 } as const
const withoutBody = { body: noBody, bodyOptional: true } as const

const conflicts = ['config.revision_conflict', 'config.roster_conflict'] as const
const refusals = [
  'config.unknown_key',
  'config.membership_not_allowed',
  'config.removal_requires_revision',
  'config.duplicate_field',
  'config.create_and_remove',
  'config.too_many_elements',
  'config.invalid_slug',
] as const

type Editing = Pick<AdminCall<unknown, unknown>, 'user' | 'source' | 'askAgain'>

/** Most edits take no time: only one that waits, for another edit or for a validator, is asked about again. */
const editorOf = ({ user, source, askAgain }: Editing) => {
  return { userId: user.id, source, askAgain: () => askAgain('late') }
}

const listModules = adminOperation({
  id: 'listModules',
  method: 'GET',
  path: '/v1/admin/modules',
  summary: 'The modules that can be configured',
  guards: reading,
  ...shared,
  ...withoutBody,
  reply: z.strictObject({ items: z.readonly(z.array(moduleSummaryReply)) }),
  errors: [],
  locate: async () => {},
  handle: async (_call, ctx) => ({ body: { items: await moduleSummaries(ctx.config) } }),
})

const getModule = adminOperation({
  id: 'getModule',
  method: 'GET',
  path: '/v1/admin/modules/{name}',
  summary: 'A module: its fields and its environments',
  guards: reading,
  ...shared,
  ...withoutBody,
  reply: moduleReply,
  errors: ['module_not_found'],
  locate: async () => {},
  handle: async ({ params }, ctx) => ({ body: await viewModule(ctx.config, params['name'] ?? '') }),
})

const updateModule = adminOperation({
  id: 'updateModule',
  method: 'PATCH',
  path: '/v1/admin/modules/{name}',
  summary: 'Edit the active environment of a module; its lists keep their elements',
  guards: managing,
  ...shared,
  body: modulePatchInput,
  reply: environmentReply,
  validated: true,
  errors: ['module_not_found', ...conflicts, ...refusals],
  locate: ({ name = '' }, ctx) => locateConfig(ctx.config, name, null),
  handle: async ({ located, body, ...call }, ctx) => ({
    body: await patchConfig(ctx.config, located, body, editorOf(call)),
  }),
})

const getEnvironment = adminOperation({
  id: 'getEnvironment',
  method: 'GET',
  path: '/v1/admin/modules/{name}/environments/{env}',
  summary: 'The values of an environment, without its secrets, and its revision',
  guards: reading,
  ...shared,
  ...withoutBody,
  reply: environmentReply,
  errors: ['module_not_found', 'environment_not_found'],
  locate: async () => {},
  handle: async ({ params: { name = '', env = '' } }, ctx) => ({
    body: await viewEnvironment(ctx.config, name, env),
  }),
})

const updateEnvironment = adminOperation({
  id: 'updateEnvironment',
  method: 'PATCH',
  path: '/v1/admin/modules/{name}/environments/{env}',
  summary: 'Edit an environment, and the membership of its lists',
  guards: managing,
  ...shared,
  body: configPatchInput,
  reply: environmentReply,
  validated: true,
  errors: ['module_not_found', 'environment_not_found', ...conflicts, ...refusals],
  locate: ({ name = '', env = '' }, ctx) => locateConfig(ctx.config, name, env),
  handle: async ({ located, body, ...call }, ctx) => ({
    body: await patchConfig(ctx.config, located, body, editorOf(call)),
  }),
})

const setActiveEnvironment = adminOperation({
  id: 'setActiveEnvironment',
  method: 'PUT',
  path: '/v1/admin/modules/{name}/active-environment',
  summary: 'Make another environment the active one',
  guards: managing,
  ...shared,
  body: z.strictObject({ environment: z.string().check(z.maxLength(200)) }),
  reply: z.strictObject({
    module: z.string(),
    activeEnvironment: z.string(),
    needsRestart: z.boolean(),
  }),
  validated: true,
  errors: ['module_not_found', 'environment_not_found'],
  locate: ({ name = '' }, ctx) => locateConfig(ctx.config, name, null),
  handle: async ({ located, body, ...call }, ctx) => ({
    body: await activateEnvironment(ctx.config, located, body.environment, editorOf(call)),
  }),
})

const listEnvironmentRevisions = adminOperation({
  id: 'listEnvironmentRevisions',
  method: 'GET',
  path: '/v1/admin/modules/{name}/environments/{env}/revisions',
  summary: 'The last fifty revisions of an environment, newest first, without secrets',
  guards: reading,
  ...shared,
  ...withoutBody,
  reply: z.strictObject({ items: z.readonly(z.array(configRevisionReply)) }),
  errors: ['module_not_found', 'environment_not_found'],
  locate: async () => {},
  handle: async ({ params: { name = '', env = '' } }, ctx) => ({
    body: { items: (await listRevisions(ctx.config, name, env)).map(configRevisionView) },
  }),
})

export const moduleConfigurationOperations = [
  listModules,
  getModule,
  updateModule,
  getEnvironment,
  updateEnvironment,
  setActiveEnvironment,
  listEnvironmentRevisions,
]

function configRevisionView(revision: ConfigRevision) {
  return { ...revision, writtenAt: new Date(revision.writtenAt).toISOString() }
}
