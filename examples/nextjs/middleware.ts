import { type NextRequest, NextResponse } from 'next/server'

/**
 * Sends visitors without a cookie to the login page early. This is no authorization: any client can send a cookie of
 * that name. Each page and each action asks `sessionOf`.
 */
export function middleware(request: NextRequest): NextResponse {
  const { cookies, nextUrl } = request
  // The second name is that of http://localhost.
  if (cookies.has('__Host-cl_refresh') || cookies.has('cl_refresh')) return NextResponse.next()
  const login = nextUrl.clone()
  login.pathname = '/login'
  return NextResponse.redirect(login)
}

export const config = { matcher: ['/'] }
