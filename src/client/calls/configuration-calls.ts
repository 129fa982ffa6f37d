// Made by `npm run generate` from the operation table.

import type { Call } from './call.js'
import type { ConfigPatch, Environment, Module, ModulePatch, ModuleSummary } from './shapes.js'

/** Operations of the operator surface, by method and path. */
export interface OperatorConfigurationCalls {
  /** The modules that can be configured. */
  readonly 'GET /v1/admin/modules': Call<
    Readonly<Record<string, never>>,
    { readonly items: readonly ModuleSummary[] }
  >
  /** A module: its fields and its environments. */
  readonly 'GET /v1/admin/modules/{name}': Call<{ readonly name: string }, Module>
  /** Edit the active environment of a module; its lists keep their elements. */
  readonly 'PATCH /v1/admin/modules/{name}': Call<
    { readonly name: string } & ModulePatch,
    Environment
  >
  /** The values of an environment, without its secrets, and its revision. */
  readonly 'GET /v1/admin/modules/{name}/environments/{env}': Call<
    { readonly name: string; readonly env: string },
    Environment
  >
  /** Edit an environment, and the membership of its lists. */
  readonly 'PATCH /v1/admin/modules/{name}/environments/{env}': Call<
    { readonly name: string; readonly env: string } & ConfigPatch,
    Environment
  >
  /** Make another environment the active one. */
  readonly 'PUT /v1/admin/modules/{name}/active-environment': Call<
    { readonly name: string; readonly environment: string },
    { readonly module: string; readonly activeEnvironment: string; readonly needsRestart: boolean }
  >
  /** The last fifty revisions of an environment, newest first, without secrets. */
  readonly 'GET /v1/admin/modules/{name}/environments/{env}/revisions': Call<
    { readonly name: string; readonly env: string },
    {
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
  >
}
