// Made by `npm run generate` from the operation table.

import type { ConfigPatch, Environment, Module, ModulePatch, ModuleSummary } from './shapes.js'

/** Operations of the operator surface, by method and path. */
export interface OperatorConfigurationCalls {
  /** The modules that can be configured. */
  readonly 'GET /v1/admin/modules': {
    readonly input: Readonly<Record<string, never>>
    readonly reply: { readonly items: readonly ModuleSummary[] }
  }
  /** A module: its fields and its environments. */
  readonly 'GET /v1/admin/modules/{name}': {
    readonly input: { readonly name: string }
    readonly reply: Module
  }
  /** Edit the active environment of a module; its lists keep their elements. */
  readonly 'PATCH /v1/admin/modules/{name}': {
    readonly input: { readonly name: string } & ModulePatch
    readonly reply: Environment
  }
  /** The values of an environment, without its secrets, and its revision. */
  readonly 'GET /v1/admin/modules/{name}/environments/{env}': {
    readonly input: { readonly name: string; readonly env: string }
    readonly reply: Environment
  }
  /** Edit an environment, and the membership of its lists. */
  readonly 'PATCH /v1/admin/modules/{name}/environments/{env}': {
    readonly input: { readonly name: string; readonly env: string } & ConfigPatch
    readonly reply: Environment
  }
  /** Make another environment the active one. */
  readonly 'PUT /v1/admin/modules/{name}/active-environment': {
    readonly input: { readonly name: string; readonly environment: string }
    readonly reply: {
      readonly module: string
      readonly activeEnvironment: string
      readonly needsRestart: boolean
    }
  }
  /** The last fifty revisions of an environment, newest first, without secrets. */
  readonly 'GET /v1/admin/modules/{name}/environments/{env}/revisions': {
    readonly input: { readonly name: string; readonly env: string }
    readonly reply: {
      readonly items: readonly {
        readonly revision: number
        readonly writtenAt: string
        readonly writtenBy: string | null
        readonly changed: readonly string[]
        readonly removed: readonly string[]
        readonly config: Readonly<Record<string, string>>
        readonly secretsSet: readonly string[]
      }[]
    }
  }
}
