/** The options of commands that ask a running controller. */
export const CONNECTION_OPTIONS = {
  url: {
    value: 'https://HOST:PORT',
    variable: true,
    summary: 'the controller to ask; default: that of the login profile',
  },
  ca: {
    value: 'FILE',
    variable: true,
    summary: "the controller's trust bundle, PEM; default: that of the profile, or the system's certificates",
  },
  profile: { value: 'NAME', variable: true, summary: 'a login of portcullis login; default: default' },
} as const

/** How a command comes to a running controller, for help. */
export const CONNECTION_DETAILS = `It comes to a running controller by the login of portcullis login, or, with --url, as
PORTCULLIS_ADMIN_USERNAME with PORTCULLIS_ADMIN_PASSWORD.`
