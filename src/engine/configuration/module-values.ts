import type { FieldDeclaration, ItemDeclaration } from './config-declaration.js'

/** The type of the value of each field type. A duration is milliseconds. */
interface Readings {
  FieldString: string
  FieldSecret: string
  FieldBool: boolean
  FieldInt: number
  FieldDuration: number
}

type Declared = FieldDeclaration | ItemDeclaration

type Typed<D extends Declared> = D extends { readonly options: readonly (infer Option)[] }
  ? Option
  : D extends { readonly type: keyof Readings }
    ? Readings[D['type']]
    : string

/** Texts and switches always have a value. Other fields without a default may read as null. */
type AlwaysSet =
  | { readonly type: 'FieldString' | 'FieldSecret' | 'FieldBool' }
  | { readonly default: string }

type Read<D extends Declared> = D extends AlwaysSet ? Typed<D> : Typed<D> | null

/** One element of a record list: its slug, its label, and each sub-field by its key. */
export type ElementValues<Items extends readonly ItemDeclaration[]> = {
  readonly slug: string
  readonly label: string
} & { readonly [Item in Items[number] as Item['key']]: Read<Item> }

type FieldValue<D extends FieldDeclaration> = D extends {
  readonly type: 'FieldRecordList'
  readonly items: infer Items extends readonly ItemDeclaration[]
}
  ? readonly ElementValues<Items>[]
  : Read<D>

/** The values of a list of fields, by key. */
export type FieldValues<Fields extends readonly FieldDeclaration[]> = {
  readonly [Field in Fields[number] as Field['key']]: FieldValue<Field>
}
