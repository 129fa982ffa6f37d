import ts from 'typescript'

/** A member of an event, beside those that all events have. */
export interface EventMember {
  readonly name: string
  /** As it is written in the source, such as `string | null`; the values themselves of a closed list. */
  readonly type: string
  readonly isNullable: boolean
  /** Of a closed list; empty for any other type. */
  readonly values: readonly string[]
  /** One line; empty without a comment. */
  readonly description: string
}

/** One event of the catalogue. */
export interface EventEntry {
  readonly type: string
  /** When it is emitted; empty without a comment. */
  readonly when: string
  readonly members: readonly EventMember[]
}

/** The events that one file of the catalogue declares. */
export interface EventGroup {
  /** The name of the file, such as `login-event`. */
  readonly file: string
  readonly events: readonly EventEntry[]
}

type Aliases = ReadonlyMap<string, ts.TypeNode>

/** The events of the types `…Event` in these files of `src/ports`, in the order of the sources. */
export function eventCatalogue(
  sources: readonly { readonly name: string; readonly text: string }[],
): readonly EventGroup[] {
  const trees = sources.map(({ name, text }) => ({
    file: name.replace(/\.ts$/, ''),
    tree: ts.createSourceFile(name, text, ts.ScriptTarget.ES2023, true),
  }))
  const aliases = new Map(trees.flatMap(({ tree }) => aliasesOf(tree)))
  return trees.flatMap(({ file, tree }) => {
    const events = aliasesOf(tree)
      .filter(([name]) => name.endsWith('Event') && name !== 'AuthEvent')
      .flatMap(([, type]) => literalsIn(type))
      .flatMap((literal) => entriesOf(literal, aliases))
    return events.length === 0 ? [] : [{ file, events }]
  })
}

function aliasesOf(tree: ts.SourceFile): readonly (readonly [string, ts.TypeNode])[] {
  return tree.statements
    .filter(ts.isTypeAliasDeclaration)
    .map((alias) => [alias.name.text, alias.type] as const)
}

function literalsIn(type: ts.TypeNode): readonly ts.TypeLiteralNode[] {
  if (ts.isTypeLiteralNode(type)) return [type]
  return ts.isUnionTypeNode(type) ? type.types.filter(ts.isTypeLiteralNode) : []
}

function entriesOf(literal: ts.TypeLiteralNode, aliases: Aliases): readonly EventEntry[] {
  const members = literal.members.filter(ts.isPropertySignature)
  const [type, ...others] = members
  if (type?.type === undefined || nameOf(type) !== 'type') return []
  const when = [commentBefore(literal), commentBefore(type)].filter(Boolean).join(' ')
  const said = others.map((member) => memberOf(member, aliases))
  return valuesOf(type.type, aliases).map((value) => ({ type: value, when, members: said }))
}

const nameOf = ({ name }: ts.PropertySignature): string => name.getText()

function memberOf(member: ts.PropertySignature, aliases: Aliases): EventMember {
  const type = member.type?.getText() ?? 'unknown'
  const parts =
    member.type !== undefined && ts.isUnionTypeNode(member.type) ? member.type.types : []
  const isNullable = parts.some((part) => part.getText() === 'null')
  const element =
    member.type !== undefined && ts.isTypeOperatorNode(member.type) ? member.type.type : member.type
  const values =
    element === undefined
      ? []
      : valuesOf(ts.isArrayTypeNode(element) ? element.elementType : element, aliases)
  return { name: nameOf(member), type, isNullable, values, description: commentBefore(member) }
}

/** The texts that a type is a closed list of; empty for any other type. */
function valuesOf(type: ts.TypeNode, aliases: Aliases): readonly string[] {
  if (ts.isLiteralTypeNode(type) && ts.isStringLiteral(type.literal)) return [type.literal.text]
  if (ts.isUnionTypeNode(type)) return type.types.flatMap((part) => valuesOf(part, aliases))
  const alias = ts.isTypeReferenceNode(type) ? aliases.get(type.typeName.getText()) : undefined
  return alias === undefined ? [] : valuesOf(alias, aliases)
}

/** The last `/** … *\/` before a node, as one line. */
function commentBefore(node: ts.Node): string {
  const { text } = node.getSourceFile()
  // What stands before the `|` of a union belongs to the part behind it.
  const before = text
    .slice(0, node.getStart())
    .replace(/\|\s*$/, '')
    .trimEnd()
  if (!before.endsWith('*/')) return ''
  return before
    .slice(before.lastIndexOf('/**') + 3, -2)
    .split('\n')
    .map((line) => line.trim().replace(/^\*/, '').trim())
    .filter(Boolean)
    .join(' ')
}
