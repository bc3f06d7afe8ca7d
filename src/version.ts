/** The version of this package. */
export const VERSION = '0.3.0'
/** When it was built, RFC 3339: the build writes it into the package; in the sources it is the day of the version. */
export const BUILD_DATE = '2026-11-24T00:00:00Z'
