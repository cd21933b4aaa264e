"""PLT beside napkinXC and omikuji, where its time goes, and what the machine can do."""
