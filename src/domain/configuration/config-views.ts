import {
  type FieldDeclaration,
  FieldRecordList,
  isSecret,
} from '../../engine/configuration/config-declaration.js'
import { readRecordList, rosterKey } from '../../engine/configuration/config-keys.js'
import { awaitsRestart } from '../../engine/configuration/running-processes.js'
import type { Module, ModuleEnvironment } from '../../model/configuration.js'
import type { RegisteredModule, Texts, ValueSource } from './registered-module.js'

/** A module in a list of modules. */
export interface ModuleSummary {
  readonly name: string
  readonly activeEnvironment: string
  /** Whether a process runs that began before the last activation. */
  readonly needsRestart: boolean
}

/** A module: its fields as they are declared, and its environments. */
export interface ModuleView extends ModuleSummary {
  readonly environments: readonly {
    readonly name: string
    readonly active: boolean
    readonly revision: number
  }[]
  readonly fields: readonly FieldView[]
}

/** A field as it is declared, and what its declaration does not tell. */
export interface FieldView extends FieldDeclaration {
  /** An empty text is a value of its own here, such as "no limit". Left out where it stands for the default. */
  readonly emptyIsValue?: true
}

/** An environment as administrators see it: a secret is a key in `secretsSet`, and no more. */
export interface EnvironmentView {
  readonly module: string
  readonly environment: string
  readonly active: boolean
  readonly revision: number
  /** The values of fields that were given one, an empty one included, and are neither secrets nor lists. */
  readonly config: Texts
  readonly secretsSet: readonly string[]
  readonly recordLists: readonly {
    readonly field: string
    readonly elements: readonly ElementView[]
  }[]
  /** Where each declared field's value comes from now. */
  readonly sources: Readonly<Record<string, ValueSource>>
}

/** Null for a secret. */
export interface ElementView {
  readonly slug: string
  readonly label: string
  readonly [subField: string]: string | null
}

/** As of `now`, because a process that crashed counts no longer after a while. */
export function moduleSummary(module: Module, now: number): ModuleSummary {
  const { id: name, activeEnvironment } = module
  return { name, activeEnvironment, needsRestart: awaitsRestart(module, now) }
}

export function fieldViews({ fields, sourceOf }: RegisteredModule): readonly FieldView[] {
  return fields.map((field) => {
    const isValue = field.type !== FieldRecordList && sourceOf(field.key, '') === 'store'
    return isValue ? { ...field, emptyIsValue: true } : field
  })
}

export function environmentView(
  module: RegisteredModule,
  environment: string,
  active: boolean,
  { revision, values }: Pick<ModuleEnvironment, 'revision' | 'values'>,
): EnvironmentView {
  // Without what is encrypted under a field that is declared as no secret any more.
  const shown = module.redact(values).values
  const own = module.fields.filter(
    (field) => field.type !== FieldRecordList && Object.hasOwn(shown, field.key),
  )
  const lists = module.fields.filter(({ type }) => type === FieldRecordList)
  return {
    module: module.name,
    environment,
    active,
    revision,
    config: Object.fromEntries(own.map(({ key }) => [key, shown[key] ?? ''])),
    secretsSet: module.secretsSet(values),
    recordLists: lists.map((list) => ({
      field: list.key,
      elements: elementsOf(list, shown),
    })),
    sources: Object.fromEntries(
      module.fields.map(({ key, type }) => {
        const place = type === FieldRecordList ? rosterKey(key) : key
        // A field may be named like a member of every object.
        return [key, module.sourceOf(key, Object.hasOwn(values, place) ? values[place] : undefined)]
      }),
    ),
  }
}

function elementsOf(list: FieldDeclaration, values: Texts): readonly ElementView[] {
  const secrets = (list.items ?? []).filter(isSecret)
  return readRecordList(list, values).map((element) => {
    const shown: Record<string, string | null> = { ...element }
    for (const { key } of secrets) shown[key] = null
    return { ...shown, slug: element.slug, label: element.label }
  })
}
