import ts from 'typescript'
import { markdownTable } from '../../bench/harness/text-table.js'
import type { FieldDeclaration } from '../../src/engine/configuration/config-declaration.js'

/** The interfaces of `src/options.ts`, by the title of their section. */
const sections: readonly (readonly [title: string, name: string])[] = [
  ['Options of `createAuth`', 'AuthOptions'],
  ['Of each surface: `surfaces.operator`, `surfaces.client`', 'SurfaceOptions'],
  ['Of hashing: `hash`', 'HashOptions'],
  ['Of identity providers: `oauth`', 'OauthOptions'],
  ['Of one provider: `oauth.providers.google` and the others', 'OauthProviderOptions'],
]

const introduction = `# Options

What a host passes to \`createAuth\`, in the words of the types that your editor shows. Options without a default are
required, and marked so. A wrong option throws an \`OptionsError\` that names it. What administrators change while the
host runs is a [setting](settings.md).

Written by \`npm run reference\` from \`src/options.ts\`.
`

/** Read beside the first values of settings. */
const otherVariables: readonly (readonly [variable: string, what: string])[] = [
  ['CONFIG_ENCRYPTION_KEY', 'the option `configKeys`, where it is left out'],
  [
    'JWT_REFRESH_TOKEN_EXPIRY',
    'the idle window: how long a session lasts without a refresh; 7 days by default ([sessions](sessions.md#lifetimes))',
  ],
  ['UV_THREADPOOL_SIZE', 'threads of Node’s pool, which bound how many hashes run at once'],
]

/** The page on the options, and on the environment variables that the library reads. */
export function optionsPage(source: string, settings: readonly FieldDeclaration[]): string {
  const tree = ts.createSourceFile('options.ts', source, ts.ScriptTarget.Latest, true)
  const tables = sections.map(([title, name]) => {
    const rows = rowsOf(interfaceOf(tree, name).members, '')
    return `\n## ${title}\n\n${markdownTable(['option', '', 'what it is'], rows)}\n`
  })
  return `${introduction}${tables.join('')}\n${variables(settings)}`
}

function interfaceOf(tree: ts.SourceFile, name: string): ts.InterfaceDeclaration {
  const found = tree.statements.find(
    (one): one is ts.InterfaceDeclaration =>
      ts.isInterfaceDeclaration(one) && one.name.text === name,
  )
  if (found === undefined) throw new Error(`src/options.ts has no interface ${name}`)
  return found
}

/** One for each option, and one for each part of an option that is an object of its own. */
function rowsOf(members: ts.NodeArray<ts.TypeElement>, prefix: string): readonly string[][] {
  return members.flatMap((member) => {
    if (!ts.isPropertySignature(member)) return []
    const name = `${prefix}${member.name.getText()}`
    const isRequired = member.questionToken === undefined
    const row = [`\`${name}\``, isRequired ? 'required' : '', docOf(member)]
    const { type } = member
    const parts = type !== undefined && ts.isTypeLiteralNode(type) ? type.members : null
    // What a part is may stand at the whole.
    const isTold = prefix === '' || docOf(member) !== ''
    return [...(isTold ? [row] : []), ...(parts === null ? [] : rowsOf(parts, `${name}.`))]
  })
}

function docOf(member: ts.PropertySignature): string {
  const texts = ts.getJSDocCommentsAndTags(member).flatMap((doc) => {
    const { comment } = doc
    return typeof comment === 'string' ? [comment] : []
  })
  return texts.join(' ').replaceAll(/\s+/g, ' ').replaceAll('|', '\\|')
}

function variables(settings: readonly FieldDeclaration[]): string {
  const ofSettings = settings.flatMap(({ key, envVar }) =>
    envVar === undefined ? [] : [[`\`${envVar}\``, `the [setting](settings.md) \`${key}\``]],
  )
  const others = otherVariables.map(([variable, what]) => [`\`${variable}\``, what])
  const rows = [...ofSettings, ...others].toSorted(([one = ''], [other = '']) =>
    one < other ? -1 : 1,
  )
  return `## Environment variables\n\nThe library reads these of the option \`env\`, which is \`process.env\` by default.\n\n${markdownTable(['variable', 'what it gives'], rows)}\n`
}
