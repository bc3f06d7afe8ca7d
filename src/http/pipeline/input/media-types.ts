/** What a browser sends of a form, and every client of OAuth 2.0. */
export const FORM = 'application/x-www-form-urlencoded'

/** The media type of a Content-Type header, lower case, without parameters. */
export function mediaTypeOf(contentType: string | null): string | undefined {
  return contentType?.split(';')[0]?.trim().toLowerCase() || undefined
}

const TOKEN = "[!#$%&'*+.^_`|~0-9a-z-]+"
const MEDIA_TYPE = new RegExp(`^${TOKEN}/${TOKEN}$`)

/** Reports whether a Content-Type header names a media type at all. */
export function isMediaType(contentType: string): boolean {
  return MEDIA_TYPE.test(mediaTypeOf(contentType) ?? '')
}

/** Reports whether an Accept header (absent: everything) admits a media type. Quality values are not weighed. */
export function isAcceptable(accept: string | null, mediaType: string): boolean {
  if (accept === null || accept.trim() === '') return true
  const [type = ''] = mediaType.split('/')
  return accept
    .split(',')
    .map((range) => mediaTypeOf(range))
    .some((range) => range === '*/*' || range === mediaType || range === `${type}/*`)
}
