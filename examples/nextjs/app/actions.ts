'use server'

import { cookies, headers } from 'next/headers'
import { redirect } from 'next/navigation'
import { startedAuth } from '../auth.ts'

/** Refreshes the session, which a page alone does not. */
export async function stay(): Promise<void> {
  const { client } = await startedAuth()
  const given = await headers()
  const reply = await client.handle({
    method: 'POST',
    path: '/v1/auth/client/refresh-cookie',
    query: '',
    header: (name) => given.get(name) ?? undefined,
    remoteAddress: undefined,
    body: async () => ({ kind: 'empty' }),
  })
  // Each of them, also those of a refusal, which take away a cookie that is worth nothing.
  for (const line of reply?.cookies ?? []) await setCookie(line)
  redirect(reply?.status === 200 ? '/' : '/login')
}

/** Next.js takes a cookie in parts. */
async function setCookie(line: string): Promise<void> {
  const [pair = '', ...attributes] = line.split('; ')
  const of = (name: string) =>
    attributes.find((one) => one.startsWith(`${name}=`))?.slice(name.length + 1)
  const at = pair.indexOf('=')
  const jar = await cookies()
  jar.set(pair.slice(0, at), pair.slice(at + 1), {
    maxAge: Number(of('Max-Age')),
    path: of('Path') ?? '/',
    domain: of('Domain'),
    sameSite: (of('SameSite') ?? 'Lax').toLowerCase() as 'lax' | 'strict' | 'none',
    secure: attributes.includes('Secure'),
    httpOnly: true,
  })
}
