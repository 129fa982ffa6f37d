import type { OperatorCalls, ReplyOf } from 'postern/client'
import type { FieldDeclaration, ItemDeclaration } from 'postern/config'

/** A field as the API describes it. */
export interface Field extends FieldDeclaration {
  readonly emptyIsValue?: boolean
}

export type SubField = ItemDeclaration

/** A module as the API describes it. */
export interface Module
  extends Omit<ReplyOf<OperatorCalls['GET /v1/admin/modules/{name}']>, 'fields'> {
  readonly fields: readonly Field[]
}

export type Environment = ReplyOf<OperatorCalls['GET /v1/admin/modules/{name}/environments/{env}']>

export type Revision = ReplyOf<
  OperatorCalls['GET /v1/admin/modules/{name}/environments/{env}/revisions']
>['items'][number]

/** The edit of an environment, as the API takes it. */
export interface Patch {
  readonly config: Readonly<Record<string, string>>
  readonly recordLists: readonly {
    readonly field: string
    readonly create: readonly string[]
    readonly remove: readonly string[]
  }[]
  readonly revision: number
}
